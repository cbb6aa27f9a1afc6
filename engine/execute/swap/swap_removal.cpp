#include "engine/execute/swap/swap_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/execute/swap/drive_failure.h"
#include "engine/execute/swap/owned_descriptor.h"
#include "engine/execute/swap/swap_access.h"
#include "engine/execute/swap/swap_header.h"

namespace shardlab {
namespace {

constexpr int k_deepest_removal = 16;  // folders below a rank's, of which shardlab itself makes none

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// The names in an open folder, gathered before anything is removed.
std::vector<std::string> names_in_folder(int folder) {
  std::vector<std::string> names;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(copy));
  if (!entries) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

int remove_all_but(const char* kept, int folder, int depth);

int remove_entry(int parent, const std::string& name, int depth) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  const int failed = errno;  // EISDIR or EPERM where it is a folder
  const OwnedDescriptor below = open_folder_at(parent, name);
  if (!below.is_open() || depth == 0) return failed;
  if (const int inside = remove_all_but("", below.get(), depth - 1); inside != 0) return inside;
  return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

// Goes on after what cannot be removed; returns the first errno, or 0.
int remove_all_but(const char* kept, int folder, int depth) {
  int first = 0;
  for (const std::string& name : names_in_folder(folder)) {
    if (name == kept) continue;
    const int failed = remove_entry(folder, name, depth);
    if (first == 0) first = failed;
  }
  return first;
}

// Whether the process that made the folder is known to be gone. The lock is held by the caller from then on.
bool is_abandoned(int rank_folder, OwnedDescriptor& lock) {
  lock = OwnedDescriptor(::openat(rank_folder, k_swap_lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!lock.is_open()) return false;  // just being made, or nothing of shardlab's
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  std::array<char, 512> host{};
  const ssize_t read = ::pread(lock.get(), host.data(), host.size(), 0);
  // A lock is taken before the host is written: who took it and wrote nothing was killed in between.
  return read == 0 || (read > 0 && is_this_host({host.data(), static_cast<std::size_t>(read)}));
}

void remove_abandoned_ranks(int run_folder) {
  for (const std::string& name : names_in_folder(run_folder)) {
    if (!name.starts_with("rank") || !foreign_folder(run_folder, name).empty()) continue;
    const OwnedDescriptor rank_folder = open_folder_at(run_folder, name);
    OwnedDescriptor lock;
    if (rank_folder.is_open() && is_abandoned(rank_folder.get(), lock)) {
      remove_rank_folder(run_folder, name, rank_folder.get());
    } else {
      // A process that was killed before it made its lock leaves an empty folder; who is just making one
      // tries again.
      ::unlinkat(run_folder, name.c_str(), AT_REMOVEDIR);
    }
  }
}

}  // namespace

void remove_rank_folder(int run_folder, const std::string& name, int rank_folder) {
  // The lock is the last to go: a folder without one would be left alone for ever.
  if (remove_all_but(k_swap_lock, rank_folder, k_deepest_removal) != 0) return;
  ::unlinkat(rank_folder, k_swap_lock, 0);
  ::unlinkat(run_folder, name.c_str(), AT_REMOVEDIR);
}

void remove_abandoned_swap(int parent) {
  for (const std::string& name : names_in_folder(parent)) {
    if (!name.starts_with(k_swap_prefix) || !foreign_folder(parent, name).empty()) continue;
    const OwnedDescriptor run_folder = open_folder_at(parent, name);
    if (!run_folder.is_open()) continue;
    remove_abandoned_ranks(run_folder.get());
    ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);  // fails where a rank is left
  }
}

Status remove_swap_of_run(const std::string& path, const std::string& run) {
  if (!is_swap_run(run)) return bad_input("run", k_wrong_swap_run);
  const auto parent = open_drive_folder(path);
  if (!parent) return parent.error().kind == ErrorKind::bad_input ? Status{} : fail(parent.error());
  const std::string name = k_swap_prefix + run;
  const Place place = in_file(path + "/" + name);
  if (std::string foreign = foreign_folder(parent->get(), name); !foreign.empty())
    return not_possible(place, std::move(foreign), "look at what it is, and remove it by hand");
  const int failed = remove_entry(parent->get(), name, k_deepest_removal);
  if (failed == 0) return {};
  return fail(drive_error(place, {failed, "removed", {}, {-1}, ErrorKind::not_possible}));
}

}  // namespace shardlab

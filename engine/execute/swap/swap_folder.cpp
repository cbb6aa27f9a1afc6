#include "engine/execute/swap/swap_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "engine/base/write_all.h"
#include "engine/execute/machine.h"
#include "engine/execute/swap/drive_failure.h"
#include "engine/execute/swap/swap_access.h"
#include "engine/execute/swap/swap_removal.h"

namespace shardlab {
namespace {

// Another run that begins looks at our folder for a moment before it is locked.
constexpr int k_tries_to_make = 50;
constexpr auto k_pause_to_make = std::chrono::milliseconds(10);

}  // namespace

SwapFolder::SwapFolder(OwnedDescriptor drive, const std::string& path, const std::string& run, int rank)
    : run_name_(k_swap_prefix + run),
      rank_name_(fmt::format("rank{}", rank)),
      path_(fmt::format("{}/{}/{}", path, run_name_, rank_name_)),
      rank_(rank),
      drive_(std::move(drive)) {}

tl::unexpected<Error> SwapFolder::cannot_be(const char* what) const {
  return fail(drive_error(swap_place(path_, rank_), {errno, what, {}, {-1}, ErrorKind::not_possible}));
}

tl::unexpected<Error> SwapFolder::refuse_foreign(std::string what) const {
  return not_possible(swap_place(path_, rank_), std::move(what),
                      "the run would swap to it: remove it, or name another folder (cluster.nvme.path)");
}

Result<SwapFolder> SwapFolder::make(const std::string& path, const std::string& run, int rank) {
  SHARDLAB_TRY(OwnedDescriptor drive, open_drive_folder(path));
  SwapFolder folder(std::move(drive), path, run, rank);
  for (int i = 0; i < k_tries_to_make; ++i) {
    if (i > 0) std::this_thread::sleep_for(k_pause_to_make);
    remove_abandoned_swap(folder.drive_.get());
    SHARDLAB_TRY(const bool made, folder.try_to_make());
    if (made) return folder;
  }
  return not_possible(swap_place(folder.path_, rank), "is removed again and again while it is made",
                      "see which program works in that folder");
}

Result<bool> SwapFolder::try_to_make() {
  SHARDLAB_TRY(const bool has_run, open_run_folder());
  if (!has_run) return false;
  SHARDLAB_TRY(const bool has_rank, make_rank_folder());
  if (!has_rank) return false;
  return lock();
}

Result<bool> SwapFolder::open_run_folder() {
  if (::mkdirat(drive_.get(), run_name_.c_str(), S_IRWXU) != 0 && errno != EEXIST) return cannot_be("made");
  if (std::string foreign = foreign_folder(drive_.get(), run_name_); !foreign.empty())
    return refuse_foreign(fmt::format("lies in {}, which {}", run_name_, foreign));
  run_folder_ = open_folder_at(drive_.get(), run_name_);
  if (!run_folder_.is_open()) return errno == ENOENT ? Result<bool>(false) : cannot_be("opened");
  if (::fchmod(run_folder_.get(), S_IRWXU) != 0) return cannot_be("closed to others");
  return true;
}

Result<bool> SwapFolder::make_rank_folder() {
  if (::mkdirat(run_folder_.get(), rank_name_.c_str(), S_IRWXU) != 0) {
    if (errno == ENOENT) return false;
    if (errno != EEXIST) return cannot_be("made");
    if (std::string foreign = foreign_folder(run_folder_.get(), rank_name_); !foreign.empty())
      return refuse_foreign(std::move(foreign));
    return not_possible(swap_place(path_, rank_),
                        "is there already, and a process that lives seems to use it",
                        "end that process, or give the run another name; else remove the folder by hand");
  }
  rank_folder_ = open_folder_at(run_folder_.get(), rank_name_);
  if (rank_folder_.is_open()) return true;
  return errno == ENOENT ? Result<bool>(false) : cannot_be("opened");
}

Result<bool> SwapFolder::lock() {
  lock_ = OwnedDescriptor(::openat(rank_folder_.get(), k_swap_lock,
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!lock_.is_open()) return errno == ENOENT ? Result<bool>(false) : cannot_be("locked");
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    return errno == EWOULDBLOCK || errno == EINTR ? Result<bool>(false) : cannot_be("locked");
  struct stat status {};
  if (::fstat(lock_.get(), &status) != 0) return cannot_be("locked");
  if (status.st_nlink == 0) return false;
  is_made_ = true;
  errno = write_all(lock_.get(), host_identity());
  if (errno != 0) return cannot_be("locked");
  return true;
}

SwapFolder::~SwapFolder() {
  if (!is_made_ || !lock_.is_open()) return;
  remove_rank_folder(run_folder_.get(), rank_name_, rank_folder_.get());
  lock_.close();
  ::unlinkat(drive_.get(), run_name_.c_str(), AT_REMOVEDIR);  // fails where another rank is left
}

}  // namespace shardlab

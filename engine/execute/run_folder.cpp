#include "engine/execute/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "engine/base/folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// '#' stands for a number.
constexpr auto k_files =
    std::to_array<std::string_view>({"job.json", "job-#.json", "rank-#.spool", "rank-#.log", "probes-#.jsonl",
                                     "here-#", "session", "order-#", "done-#-#", "meeting"});
constexpr std::string_view k_folder_of_one = "run-#";
constexpr std::string_view k_unfinished = ".#.part";  // as OutputFile calls what it has not finished

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool matches(std::string_view name, std::string_view pattern) {
  for (const char expected : pattern) {
    if (name.empty()) return false;
    if (expected != '#') {
      if (name.front() != expected) return false;
      name.remove_prefix(1);
      continue;
    }
    const auto end = std::find_if_not(name.begin(), name.end(), is_digit);
    if (end == name.begin()) return false;
    name.remove_prefix(static_cast<std::size_t>(end - name.begin()));
  }
  return name.empty();
}

tl::unexpected<Error> refuse(const fs::path& folder, std::string what) {
  return not_possible(in_file(folder.string()), std::move(what),
                      "the files of a run would be written there: remove it, or start in another folder");
}

Status remove_run_files(const fs::path& folder) {
  SHARDLAB_TRY(const std::vector<fs::path> paths, paths_in(folder));
  for (const fs::path& path : paths) {
    const std::string name = path.filename().string();
    std::error_code failed;
    if (fs::is_directory(fs::symlink_status(path, failed))) {
      if (matches(name, k_folder_of_one)) remove_run_folder(path);
    } else if (is_run_file(name) && !fs::remove(path, failed) && failed) {
      return run_failed(in_file(folder.string()), fmt::format("cannot be emptied: {}", failed.message()));
    }
  }
  return {};
}

}  // namespace

bool is_run_file(std::string_view name) {
  return std::any_of(k_files.begin(), k_files.end(), [&](std::string_view pattern) {
    return matches(name, pattern) || matches(name, std::string(pattern).append(k_unfinished));
  });
}

Status check_run_folder(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return refuse(folder, fmt::format("cannot be looked at: {}", std::strerror(errno)));
  }
  if (S_ISLNK(status.st_mode)) return refuse(folder, "is a link, not a folder of shardlab's own");
  if (!S_ISDIR(status.st_mode)) return refuse(folder, "is no folder");
  if (status.st_uid != ::geteuid()) return refuse(folder, "belongs to another user");
  return {};
}

Status make_run_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return {};
  if (errno != EEXIST) return refuse(folder, fmt::format("cannot be made: {}", std::strerror(errno)));
  SHARDLAB_CHECK_OK(check_run_folder(folder));
  if (::chmod(folder.c_str(), S_IRWXU) == 0) return {};
  return refuse(folder, fmt::format("cannot be closed to others: {}", std::strerror(errno)));
}

Status empty_run_folder(const fs::path& folder) {
  SHARDLAB_CHECK_OK(check_run_folder(folder));
  return remove_run_files(folder);
}

void remove_run_folder(const fs::path& folder) {
  if (!empty_run_folder(folder)) return;
  ::rmdir(folder.c_str());
}

}  // namespace shardlab

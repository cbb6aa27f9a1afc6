#include "engine/base/folder.h"

#include <algorithm>
#include <system_error>

namespace shardlab {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> cannot_be_read(const fs::path& folder, const std::error_code& error) {
  const Place place = in_file(folder.string());
  if (error == std::errc::no_such_file_or_directory) return bad_input(place, "no such folder");
  if (error == std::errc::not_a_directory) return bad_input(place, "is no folder");
  return unreadable(not_possible(place, "cannot be read: " + error.message()));
}

// The range of a for loop would throw when it cannot go on.
template <typename Iterator, typename Take>
Result<std::vector<fs::path>> walk(const fs::path& folder, Take takes) {
  std::vector<fs::path> found;
  std::error_code error;
  do {
    found.clear();
    for (Iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (takes(*at)) found.push_back(at->path());
    }
  } while (error == std::errc::interrupted);
  if (error) return cannot_be_read(folder, error);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<bool> is_there(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::filename_too_long) return false;  // nothing can be called so
  if (status.type() == fs::file_type::none) return cannot_be_read(path, error);
  return fs::exists(status);
}

Result<std::vector<fs::path>> paths_in(const fs::path& folder) {
  return walk<fs::directory_iterator>(folder, [](const fs::directory_entry&) { return true; });
}

Result<std::vector<fs::path>> files_below(const fs::path& folder) {
  return walk<fs::recursive_directory_iterator>(folder, [](const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_regular_file(ignored);
  });
}

}  // namespace shardlab

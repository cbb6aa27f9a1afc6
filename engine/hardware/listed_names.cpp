#include "engine/hardware/listed_names.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/base/folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> list(const fs::path& folder) {
  SHARDLAB_TRY(const std::vector<fs::path> paths, paths_in(folder));
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    if (path.extension() == ".yaml") names.push_back(path.stem().string());
  }
  return names;
}

// Names by folder, with the time at which a file last came to it or went.
class ListedFolders {
 public:
  std::optional<std::vector<std::string>> find(const std::string& folder, fs::file_time_type changed) {
    const std::scoped_lock lock(mutex_);
    const auto known = names_.find(folder);
    if (known == names_.end() || known->second.first != changed) return std::nullopt;
    return known->second.second;
  }
  void keep(const std::string& folder, fs::file_time_type changed, const std::vector<std::string>& names) {
    const std::scoped_lock lock(mutex_);
    names_.insert_or_assign(folder, std::pair(changed, names));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<fs::file_time_type, std::vector<std::string>>> names_;
};

ListedFolders& listed_folders() {
  static ListedFolders folders;
  return folders;
}

// File systems count time in steps: what comes to a folder right after it was listed may leave its time as it
// was.
bool has_rested(fs::file_time_type changed) {
  return fs::file_time_type::clock::now() - changed > std::chrono::seconds(2);
}

}  // namespace

Result<std::vector<std::string>> listed_names(const fs::path& folder) {
  std::error_code unknown;
  const fs::file_time_type changed = fs::last_write_time(folder, unknown);
  const std::string name = folder.string();
  if (!unknown) {
    if (auto names = listed_folders().find(name, changed)) return *std::move(names);
  }
  SHARDLAB_TRY(std::vector<std::string> names, list(folder));
  if (!unknown && has_rested(changed)) listed_folders().keep(name, changed, names);
  return names;
}

}  // namespace shardlab

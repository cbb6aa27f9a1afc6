#include <cstdlib>

#include "engine/store/run_store.h"

namespace shardlab {
namespace {

// Empty when unset. The XDG base directory specification ignores relative paths.
std::filesystem::path folder_from(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value != '/') return {};
  return value;
}

}  // namespace

Result<std::filesystem::path> default_database_path() {
  if (const char* chosen = std::getenv("SHARDLAB_DB"); chosen != nullptr && *chosen != '\0') {
    return std::filesystem::path(chosen);
  }
  std::filesystem::path data = folder_from("XDG_DATA_HOME");
  if (data.empty()) {
    const std::filesystem::path home = folder_from("HOME");
    if (home.empty()) {
      return bad_input("database",
                       "there is no place for it: neither SHARDLAB_DB, XDG_DATA_HOME nor HOME is set",
                       "name a file with --db FILE");
    }
    data = home / ".local" / "share";
  }
  return data / "shardlab" / "shardlab.db";
}

}  // namespace shardlab

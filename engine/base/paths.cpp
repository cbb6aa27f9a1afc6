#include "engine/base/paths.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The folders that may hold assets/, in order of preference.
std::vector<fs::path> assets_folders() {
  if (const char* chosen = std::getenv("SHARDLAB_ASSETS"); chosen != nullptr && *chosen != '\0') {
    return {fs::path(chosen)};
  }
  // An installation is complete in itself, also where the sources it was built from still lie.
  std::vector<fs::path> folders;
  if (const fs::path program = program_folder(); !program.empty()) {
    folders.push_back(program.parent_path() / "share" / "shardlab" / "assets");
  }
  folders.push_back(fs::path(SHARDLAB_SOURCE_DIR) / "assets");
  return folders;
}

bool stays_inside(const fs::path& relative) {
  return relative.is_relative() && std::find(relative.begin(), relative.end(), "..") == relative.end();
}

Result<fs::path> find_below(const std::vector<fs::path>& folders, std::string_view relative,
                            std::string what) {
  const fs::path wanted(relative);
  if (wanted.empty() || !stays_inside(wanted)) {
    return bad_input(std::string(relative), "not a path inside the " + what + " folder");
  }
  std::string looked_in;
  for (const fs::path& folder : folders) {
    SHARDLAB_TRY(const bool found, is_there(folder / wanted));
    if (found) return folder / wanted;
    looked_in += (looked_in.empty() ? "" : " and ") + folder.string();
  }
  return not_possible(std::string(relative), "no such file in " + looked_in,
                      "set SHARDLAB_ASSETS to the assets folder of the source tree or of the installation");
}

}  // namespace

Result<fs::path> find_asset(std::string_view relative) {
  return find_below(assets_folders(), relative, "assets");
}

Result<fs::path> find_scenario(std::string_view relative) {
  std::vector<fs::path> folders = assets_folders();
  for (fs::path& folder : folders) folder = (folder / "..").lexically_normal() / "scenarios";
  return find_below(folders, relative, "scenarios");
}

fs::path program_folder() {
  static const fs::path folder = [] {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path();
  }();
  return folder;
}

}  // namespace shardlab

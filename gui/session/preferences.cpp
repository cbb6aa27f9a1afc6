#include "gui/session/preferences.h"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/json_depth.h"
#include "engine/base/output_file.h"

namespace shardlab::gui {
namespace {

Preferences from_json(const nlohmann::json& json) {
  Preferences preferences;
  preferences.theme = json.value("theme", preferences.theme);
  preferences.scale = std::clamp(json.value("scale", preferences.scale), 0.0, 4.0);
  preferences.recent_files = json.value("recent_files", preferences.recent_files);
  preferences.closed_panels = json.value("closed_panels", preferences.closed_panels);
  preferences.layout = json.value("layout", preferences.layout);
  return preferences;
}

}  // namespace

void remember_file(Preferences& preferences, const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(file, error);
  const std::string name = error ? file.string() : absolute.lexically_normal().string();
  std::erase(preferences.recent_files, name);
  preferences.recent_files.insert(preferences.recent_files.begin(), name);
  if (preferences.recent_files.size() > Preferences::k_most_recent)
    preferences.recent_files.resize(Preferences::k_most_recent);
}

std::filesystem::path preferences_path() {
  if (const char* const config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != 0)
    return std::filesystem::path(config) / "shardlab" / "gui.json";
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != 0)
    return std::filesystem::path(home) / ".config" / "shardlab" / "gui.json";
  return {};
}

Result<Preferences> load_preferences(const std::filesystem::path& file) {
  constexpr FileKind k_preferences_file{"file of preferences", std::int64_t{4} << 20};
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return Preferences{};
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_preferences_file));
  try {
    if (!is_json_too_deep(text)) return from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception&) {
    // The same as for what is too deep to be looked at.
  }
  return bad_input(in_file(file.string()), "is not what the window wrote there", "it is written anew");
}

Status save_preferences(const Preferences& preferences, const std::filesystem::path& file) {
  if (file.empty()) return {};
  const nlohmann::json json = {{"theme", preferences.theme},
                               {"scale", preferences.scale},
                               {"recent_files", preferences.recent_files},
                               {"closed_panels", preferences.closed_panels},
                               {"layout", preferences.layout}};
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  return write_output_file(file, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n');
}

}  // namespace shardlab::gui

#include "engine/scenario/resolve_path.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  const auto folder = find_asset("models");
  if (!folder) return names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(*folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_there(entry->path() / "config.json")) names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".json") || text.starts_with(".");
}

}  // namespace

Result<fs::path> resolve_path(const Scenario& scenario, std::string_view path) {
  const fs::path given(path);
  const fs::path beside = fs::path(scenario.directory) / given;  // `given` alone when it is absolute
  if (!given.empty() && is_there(beside)) return beside;
  constexpr std::string_view k_assets = "assets/";
  if (path.starts_with(k_assets)) {
    if (const auto shipped = find_asset(path.substr(k_assets.size()))) return *shipped;
  }
  return bad_input({}, fmt::format("no such file: {}", path),
                   given.is_absolute()
                       ? ""
                       : fmt::format("paths are relative to the scenario's folder, {}",
                                     scenario.directory.empty() ? "the current one" : scenario.directory));
}

Result<fs::path> resolve_model_config(const Scenario& scenario, const ModelSpec& model) {
  if (!looks_like_path(model.config)) {
    const auto shipped = find_asset("models/" + model.config + "/config.json");
    if (!model.config.empty() && shipped) return *shipped;
    if (!is_there(fs::path(scenario.directory) / model.config / "config.json")) {
      return bad_input({}, fmt::format("unknown model '{}'", model.config),
                       suggestion(model.config, known_models()));
    }
  }
  SHARDLAB_TRY(fs::path found, resolve_path(scenario, model.config));
  std::error_code ignored;
  if (!fs::is_directory(found, ignored)) return found;
  if (!is_there(found / "config.json"))
    return bad_input({}, fmt::format("no config.json in {}", found.string()));
  return found / "config.json";
}

}  // namespace shardlab

#include "engine/scenario/resolve_path.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "engine/base/folder.h"
#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/model/hub_names.h"
#include "engine/scenario/model_spec.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> known_models() {
  std::vector<std::string> names;
  const auto folder = find_asset("models");
  if (!folder) return names;
  for (const fs::path& path : paths_in(*folder).value_or(std::vector<fs::path>())) {
    if (is_there(path / "config.json").value_or(false)) names.push_back(path.filename().string());
  }
  return names;
}

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".json") || text.starts_with(".");
}

// The file or folder beside the scenario; where there is none, what ships under that name of the Hub.
Result<fs::path> beside_or_of_the_hub(const Scenario& scenario, const std::string& name) {
  Result<fs::path> found = resolve_path(scenario, name);
  if (found || is_of_the_machine(found.error()) || !may_be_hub_name(name)) return found;
  SHARDLAB_TRY(const std::optional<std::string> shipped, shipped_model(name));
  if (shipped) return find_asset(fmt::format("models/{}/config.json", *shipped));
  return bad_input({}, fmt::format("no such folder, and no model of the Hub that ships: {}", name),
                   fmt::format("{}; {}", hint_for_hub_name(name), found.error().hint));
}

// A name that is the beginning of one model's alone is likelier meant than one of as many letters.
std::string hint_for_model(const std::string& name) {
  const std::vector<std::string> known = known_models();
  const std::string begin = in_lower_case(name) + "-";
  const auto begins = [&](const std::string& each) { return each.starts_with(begin); };
  const auto found = std::find_if(known.begin(), known.end(), begins);
  if (found != known.end() && std::count_if(known.begin(), known.end(), begins) == 1)
    return fmt::format("did you mean '{}'?", *found);
  return suggestion(name, known);
}

}  // namespace

Result<std::string> own_model_name(const Scenario& scenario, const std::string& config) {
  if (config.empty() || looks_like_path(config) || find_asset("models/" + config + "/config.json"))
    return config;
  SHARDLAB_TRY(const bool own, is_there(fs::path(scenario.directory) / config / "config.json"));
  if (own) return config;
  SHARDLAB_TRY(const std::optional<std::string> shipped, model_called(config));
  return shipped.value_or(config);
}

Result<fs::path> resolve_path(const Scenario& scenario, std::string_view path) {
  const fs::path given(path);
  const fs::path beside = fs::path(scenario.directory) / given;  // `given` alone when it is absolute
  SHARDLAB_TRY(const bool is_beside, is_there(beside));
  if (!given.empty() && is_beside) return beside;
  constexpr std::string_view k_assets = "assets/";
  if (path.starts_with(k_assets)) {
    const auto shipped = find_asset(path.substr(k_assets.size()));
    if (shipped || is_of_the_machine(shipped.error())) return shipped;
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
    if (!model.config.empty() && (shipped || is_of_the_machine(shipped.error()))) return shipped;
    SHARDLAB_TRY(const bool own, is_there(fs::path(scenario.directory) / model.config / "config.json"));
    if (!own) {
      return bad_input({}, fmt::format("unknown model '{}'", model.config), hint_for_model(model.config));
    }
  }
  SHARDLAB_TRY(fs::path found, beside_or_of_the_hub(scenario, model.config));
  std::error_code ignored;
  if (!fs::is_directory(found, ignored)) return found;
  SHARDLAB_TRY(const bool is_model, is_there(found / "config.json"));
  if (!is_model) return bad_input({}, fmt::format("no config.json in {}", found.string()));
  return found / "config.json";
}

}  // namespace shardlab

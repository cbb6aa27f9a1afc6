#include "engine/formats/tools/pretrained_name.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/model/hub_names.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_path.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) {
  std::error_code unknown;
  const fs::path absolute = fs::absolute(path, unknown);
  return unknown ? path : absolute.lexically_normal();
}

// Empty where the file is none of assets/models, or the Hub has no such model.
std::string name_on_the_hub(const fs::path& config, const std::string& given) {
  const auto models = find_asset("models");
  if (!models || config.parent_path().parent_path() != *models) return {};
  for (const std::string& name : {given, config.parent_path().filename().string()}) {
    const auto known = hub_name_of(name);
    if (known && *known) return **known;
  }
  return {};
}

// from_pretrained finds weights by their usual names alone, in a folder.
std::string with_weights(const Scenario& scenario, const std::string& config, const std::string& dtype) {
  const std::string& weights = scenario.model->weights;
  const fs::path file = absolute_path(resolve_path(scenario, weights).value_or(fs::path(weights)));
  const std::string name = file.filename().string();
  if (name == "model.safetensors" || name == "model.safetensors.index.json")
    return fmt::format("model = AutoModelForCausalLM.from_pretrained(\"{}\", config={}, {})",
                       file.parent_path().string(), config, dtype);
  return fmt::format(
      "model = AutoModelForCausalLM.from_config({}, {}); model.load_state_dict(load_file(\"{}\"), "
      "strict=False)",
      config, dtype, file.string());
}

}  // namespace

std::string pretrained_name(const Scenario& scenario) {
  const std::string& given = scenario.model->config;
  const auto config = resolve_model_config(scenario, *scenario.model);
  if (!config) return given;  // whoever read the scenario has refused it
  const std::string on_the_hub = name_on_the_hub(*config, given);
  if (!on_the_hub.empty()) return on_the_hub;
  const bool usual = config->filename() == "config.json";  // which transformers looks for in a folder
  return absolute_path(usual ? config->parent_path() : *config).string();
}

std::string model_in_python(const Scenario& scenario) {
  const std::string dtype = fmt::format("dtype=torch.{}", to_string(scenario.model->dtype));
  const std::string config = fmt::format("AutoConfig.from_pretrained(\"{}\")", pretrained_name(scenario));
  if (!scenario.model->weights.empty()) return with_weights(scenario, config, dtype);
  return fmt::format("model = AutoModelForCausalLM.from_config({}, {})", config, dtype);
}

}  // namespace shardlab

#include "engine/scenario/read_scenario.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include <fmt/core.h>

#include "engine/base/input_file.h"
#include "engine/base/yaml.h"
#include "engine/hardware/node.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/comments/doctor_comments.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/source.h"
#include "engine/scenario/validate.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The values that follow from others and from the shipped files: the name, the GPUs of a named node,
// own names of hardware and models in place of others.
void complete(Scenario& scenario, Reading& reading) {
  const auto refuse = [&](const std::string& key, const Error& error) {
    reading.problems.add(reading.source.place(key), error.what, error.hint, error.code);
  };
  if (scenario.name.empty()) scenario.name = fs::path(reading.source.file()).stem().string();
  ClusterSpec& cluster = *scenario.cluster;
  if (!cluster.node.empty()) {
    const auto node = find_node(cluster.node);
    if (node) cluster.node = node->name;
    if (!node) {
      refuse("cluster.node", node.error());
    } else if (cluster.gpus_per_node == 0 && !cluster.device) {
      cluster.gpus_per_node = node->gpus;
    } else if (cluster.gpus_per_node > node->gpus) {
      refuse("cluster.gpus_per_node",
             Error{ErrorKind::bad_input, {}, fmt::format("{} has {} GPUs", cluster.node, node->gpus), {}});
    }
  }
  if (!cluster.gpu.empty()) {
    const auto gpu = find_gpu(cluster.gpu);
    if (gpu)
      cluster.gpu = gpu->name;
    else
      refuse("cluster.gpu", gpu.error());
  }
  const auto check_model = [&](const std::string& key, ModelSpec& model) {
    if (model.config.empty()) return;
    if (auto own = own_model_name(scenario, model.config)) model.config = *std::move(own);
    if (const auto config = resolve_model_config(scenario, model); !config) refuse(key, config.error());
  };
  check_model("model.config", *scenario.model);
  if (scenario.distillation)
    check_model("distillation.teacher.config", *scenario.distillation->teacher.model);
}

}  // namespace

Result<ReadScenario> parse_scenario_with_source(std::string_view yaml, std::string_view file_name,
                                                std::span<const std::string> overrides) {
  const std::string file(file_name);
  if (static_cast<std::int64_t>(yaml.size()) > k_scenario_file.most) {
    return bad_input(in_file(file),
                     fmt::format("is larger than {} KiB: not a scenario file", k_scenario_file.most / 1024));
  }
  SHARDLAB_TRY(YamlNode root, parse_yaml(yaml, file_name));
  if (root.is_null() && overrides.empty())
    return bad_input(in_file(file), "is empty", "see docs/scenario.md for the keys of a scenario");
  for (const std::string& assignment : overrides) SHARDLAB_CHECK_OK(apply_override(root, assignment));
  SHARDLAB_TRY(ReadScenario read, read_scenario_tree(root, file_name));
  read.source.keep_comments(doctor_comments(yaml, read.source));
  return read;
}

Result<ReadScenario> read_scenario_tree(const YamlNode& root, std::string_view file_name) {
  const std::string file(file_name);
  Reading reading{ScenarioSource(file), {}};
  Scenario scenario;
  scenario.directory = fs::path(file_name).parent_path().string();
  read_section(scenario_keys(), root, {}, scenario, reading);
  SHARDLAB_CHECK_OK(reading.problems.status());
  complete(scenario, reading);
  SHARDLAB_CHECK_OK(reading.problems.status());
  SHARDLAB_CHECK_OK(validate_scenario(scenario, reading.source));
  return ReadScenario{std::move(scenario), std::move(reading.source)};
}

Result<Scenario> parse_scenario(std::string_view yaml, std::string_view file_name,
                                std::span<const std::string> overrides) {
  SHARDLAB_TRY(ReadScenario read, parse_scenario_with_source(yaml, file_name, overrides));
  SHARDLAB_CHECK_OK(check_supported(read.scenario, read.source));
  return std::move(read.scenario);
}

Result<Scenario> read_scenario(const fs::path& file, std::span<const std::string> overrides) {
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_scenario_file));
  return parse_scenario(text, file.string(), overrides);
}

Result<ReadScenario> read_unbuilt_scenario(const fs::path& file, std::span<const std::string> overrides) {
  SHARDLAB_TRY(const std::string text, read_input_file(file, k_scenario_file));
  return parse_scenario_with_source(text, file.string(), overrides);
}

Result<ReadScenario> read_scenario_with_source(const fs::path& file, std::span<const std::string> overrides) {
  SHARDLAB_TRY(ReadScenario read, read_unbuilt_scenario(file, overrides));
  SHARDLAB_CHECK_OK(check_supported(read.scenario, read.source));
  return read;
}

std::string write_scenario(const Scenario& scenario) {
  const auto map = write_section(scenario_keys(), scenario, Scenario{});
  return map ? write_yaml(*map) : "{}\n";
}

}  // namespace shardlab

#include <algorithm>

#include <fmt/core.h>

#include "engine/scenario/keys/sections.h"

namespace shardlab {
namespace {

const Keys<SemanticsSpec>& semantics_keys() {
  using S = SemanticsSpec;
  static const Keys<S> keys{
      key("pytorch", &S::pytorch, kind::word({"2.11"}),
          "version of PyTorch whose DDP, FSDP1 and FSDP2 are mirrored"),
      key("deepspeed", &S::deepspeed, kind::word({"0.19"}), "version of DeepSpeed whose ZeRO is mirrored"),
      key("transformers", &S::transformers, kind::word({"5"}),
          "version of transformers whose eager modules are mirrored"),
  };
  return keys;
}

// A map, or one `pytorch-2.11`.
Key<Scenario> semantics() {
  Key<Scenario> row = section("semantics", &Scenario::semantics, &semantics_keys);
  row.read = [](const YamlNode& node, const std::string& path, Scenario& scenario, Reading& reading) {
    const std::size_t dash = node.text.rfind('-');
    if (!node.is_scalar() || dash == std::string::npos) {
      read_section(semantics_keys(), node, path, scenario.semantics, reading);
      return;
    }
    YamlNode version = yaml_scalar(node.text.substr(dash + 1));
    version.where = node.where;
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    map.entries.push_back({node.text.substr(0, dash), node.where, std::move(version)});
    read_section(semantics_keys(), map, path, scenario.semantics, reading);
  };
  return row;
}

Key<Scenario> models() {
  Key<Scenario> row;
  row.name = "models";
  row.read = [](const YamlNode& node, const std::string& path, Scenario& scenario, Reading& reading) {
    if (!node.is_map()) {
      reading.problems.add(node.where, path + ": expected a map from names to models, found " +
                                           std::string(describe(node.kind)));
      return;
    }
    for (const YamlEntry& entry : node.entries) {
      const std::string model_path = joined_path(path, entry.key);
      reading.source.record(model_path, entry.where);
      read_section(named_model_keys(), entry.value, model_path, scenario.models[entry.key], reading);
    }
  };
  row.write_difference = [](const Scenario& scenario, const Scenario& base) -> std::optional<YamlNode> {
    if (scenario.models == base.models) return std::nullopt;
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    for (const auto& [name, model] : scenario.models) {
      map.entries.push_back(
          {name, {}, write_section(named_model_keys(), model, NamedModelSpec{}).value_or(YamlNode())});
    }
    return map;
  };
  row.check = [](const Scenario& scenario, const std::string& path, const ScenarioSource& source,
                 Problems& problems) {
    for (const auto& [name, model] : scenario.models)
      check_section(named_model_keys(), model, joined_path(path, name), source, problems);
  };
  row.describe_to = [](const std::string& path, std::vector<KeyLine>& lines) {
    lines.push_back(
        {path,
         "map of models",
         "",
         "{}",
         "in place of `model`: named models, each with the keys of `model` and its own `parallel`",
         {}});
  };
  return row;
}

Key<Scenario> distillation() {
  Key<Scenario> row;
  row.name = "distillation";
  row.read = [](const YamlNode& node, const std::string& path, Scenario& scenario, Reading& reading) {
    read_section(distillation_keys(), node, path, scenario.distillation.emplace(), reading);
  };
  row.write_difference = [](const Scenario& scenario, const Scenario& base) -> std::optional<YamlNode> {
    if (scenario.distillation == base.distillation || !scenario.distillation) return std::nullopt;
    return write_section(distillation_keys(), *scenario.distillation, DistillationSpec{})
        .value_or(YamlNode());
  };
  row.describe_to = [](const std::string& path, std::vector<KeyLine>& lines) {
    describe_section(distillation_keys(), path, lines);
  };
  return row;
}

}  // namespace

const Keys<Scenario>& scenario_keys() {
  using S = Scenario;
  static const Keys<S> keys{
      key("name", &S::name, kind::text(), "how runs of this scenario are listed", "the file's name"),
      key("description", &S::description, kind::text(), "what it is for"),
      key("tags", &S::tags, kind::texts(), "words to find it by"),
      semantics(),
      section("model", &S::model, &model_keys),
      models(),
      distillation(),
      section("cluster", &S::cluster, &cluster_keys, "node"),
      section("parallel", &S::parallel, &parallel_keys),
      section("precision", &S::precision, &precision_keys),
      section("scaler", &S::scaler, &scaler_keys),
      section("activation", &S::activation, &activation_keys),
      section("offload", &S::offload, &offload_keys),
      section("train", &S::train, &train_keys),
      section("checkpoint", &S::checkpoint, &checkpoint_keys),
      section("launch", &S::launch, &launch_keys),
      section("measure", &S::measure, &measure_keys),
      section("limits", &S::limits, &limits_keys),
  };
  return keys;
}

}  // namespace shardlab

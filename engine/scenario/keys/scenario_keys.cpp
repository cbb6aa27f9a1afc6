#include <algorithm>

#include <fmt/core.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/train_spec.h"

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
      key("host", &S::host, kind::word_or_absent<HostProgram>(),
          "who issues a predicted step on GPUs: shardlab's executor, or a program in Python",
          "python with eager operators, else shardlab"),
  };
  return keys;
}

// A map, or one `pytorch-2.11`.
Key<Scenario> semantics() {
  Key<Scenario> key = section("semantics", &Scenario::semantics, &semantics_keys);
  key.row.read = [](const YamlNode& node, const std::string& path, void* section, Reading& reading) {
    Scenario& scenario = *static_cast<Scenario*>(section);
    const std::size_t dash = node.text.rfind('-');
    if (!node.is_scalar() || dash == std::string::npos) {
      read_section(semantics_keys(), node, path, *scenario.semantics, reading);
      return;
    }
    YamlNode version = yaml_scalar(node.text.substr(dash + 1));
    version.place = node.place;
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    map.entries.push_back({node.text.substr(0, dash), node.place, std::move(version)});
    read_section(semantics_keys(), map, path, *scenario.semantics, reading);
  };
  return key;
}

// The teacher's `parallel` and `precision` have the keys of the student's: one line each.
void describe_distillation(const std::string& path, std::vector<KeyLine>& lines) {
  std::vector<KeyLine> all;
  describe_section(distillation_keys(), path, all);
  const std::string teacher = joined_path(path, "teacher");
  for (KeyLine& line : all) {
    const bool nested =
        line.path.starts_with(teacher + ".parallel.") || line.path.starts_with(teacher + ".precision.");
    if (!nested) lines.push_back(std::move(line));
  }
  const auto last = std::find_if(lines.begin(), lines.end(), [&](const KeyLine& line) {
    return line.path == joined_path(path, "temperature");
  });
  lines.insert(last, {{teacher + ".parallel",
                       "map",
                       "the keys of parallel that a forward knows",
                       "{strategy: none}",
                       "who holds which part of the teacher; none: every rank the whole of it",
                       {}},
                      {teacher + ".precision",
                       "map",
                       "param, output, buffer, cast_forward_inputs",
                       "as stored",
                       "the keys of precision that a forward knows",
                       {}}});
}

Key<Scenario> distillation() {
  KeyRow row;
  row.name = "distillation";
  row.table = []() -> const KeyTable& { return distillation_keys().table(); };
  row.read = [](const YamlNode& node, const std::string& path, void* section, Reading& reading) {
    read_section(distillation_keys(), node, path, static_cast<Scenario*>(section)->distillation.emplace(),
                 reading);
  };
  row.write_difference = [](const void* section, const void* base) -> std::optional<YamlNode> {
    const auto& distillation = static_cast<const Scenario*>(section)->distillation;
    if (!distillation || distillation == static_cast<const Scenario*>(base)->distillation)
      return std::nullopt;
    return write_section(distillation_keys(), *distillation, DistillationSpec{}).value_or(YamlNode());
  };
  row.check = [](const void* section, const std::string& path, const ScenarioSource& source,
                 Problems& problems) {
    const auto& distillation = static_cast<const Scenario*>(section)->distillation;
    if (distillation) check_section(distillation_keys(), *distillation, path, source, problems);
  };
  row.describe_to = [](const std::string& path, std::vector<KeyLine>& lines) {
    describe_distillation(path, lines);
  };
  return {std::move(row)};
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

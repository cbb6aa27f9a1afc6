#include "simulator/search/question/default_knobs.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/hardware/device.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/source.h"
#include "engine/scenario/train_spec.h"
#include "simulator/alternatives/settings_to_try.h"
#include "simulator/search/question/scenario_choices.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_largest_micro_batch = 64;

// Fewer of the GPUs that the scenario has: of its nodes, or of those of its only one. `nodes`: how many are
// tried.
Knob cluster_knob(const BaseScenario& base, std::vector<int>& nodes) {
  const ClusterSpec& cluster = *base.scenario.cluster;
  const auto device =
      cluster.device == DeviceKind::cpu ? Result<Device>(bad_input({}, "")) : resolve_device(cluster);
  if (!device) return {"cluster.nodes", {{{}, "as given", true}}};
  const bool by_node = device->nodes > 1;
  const int own = by_node ? device->nodes : device->ranks_per_node;
  Knob knob{by_node ? "cluster.nodes" : "cluster.gpus_per_node", {}};
  for (int count = 1; count < own; count *= 2) {
    knob.choices.push_back({{fmt::format("{}={}", knob.key, count)}, fmt::format("{}", count)});
    if (by_node) nodes.push_back(count);
  }
  knob.choices.push_back({{fmt::format("{}={}", knob.key, own)}, fmt::format("{}", own), true});
  if (by_node) nodes.push_back(own);
  return knob;
}

// Every model has products, and to run them again is most of what a full checkpoint costs; so one that keeps
// them lies between none and a full one in time and in memory.
Knob checkpoint_knob(const BaseScenario& base) {
  std::vector<Choice> choices = {
      {{"activation={checkpoint: none}"}, "none"},
      {{"activation={checkpoint: selective, operators: [linear]}"}, "selective keeping linear"},
      {{"activation={checkpoint: full}"}, "full"}};
  const std::string own(to_string(base.scenario.activation->checkpoint));
  return knob_of_choices("activation.checkpoint", base, own + " as given", std::move(choices));
}

Knob loss_knob(const BaseScenario& base) {
  std::vector<Choice> choices;
  if (base.scenario.model->loss.kind == LossKind::plain)
    choices.push_back({{"model.loss={kind: chunked, chunks: 8}"}, "8 chunks"});
  return knob_of_choices("model.loss", base, std::string(to_string(base.scenario.model->loss.kind)),
                         std::move(choices));
}

// A teacher computes the same wherever its parameters lie: whole on every rank, or sharded.
Knob teacher_knob(const BaseScenario& base) {
  constexpr std::string_view k_key = "distillation.teacher.parallel";
  std::vector<Choice> choices;
  if (base.scenario.distillation) {
    const std::string sharded(sharding_for_teacher(base.scenario));
    const std::string whole = ParallelSpec{}.strategy;
    for (const std::string& strategy : {whole, sharded})
      choices.push_back({{fmt::format("{}={{strategy: {}}}", k_key, strategy)}, strategy});
  }
  return knob_of_choices(std::string(k_key), base, "as given", std::move(choices));
}

// Whether gradients are reduced once a step, or in every micro-batch without being kept whole: the same sums.
// With a single micro-batch the scenario's reader refuses the second.
Knob sync_knob(const BaseScenario& base) {
  Knob knob{"train.sync", {}};
  for (const GradientSync each : {GradientSync::last, GradientSync::every}) {
    const std::string word(to_string(each));
    knob.choices.push_back({{"train.sync=" + word}, word, each == base.scenario.train->sync});
  }
  return knob;
}

Knob micro_batch_knob(const BaseScenario& base, std::optional<std::int64_t> global_batch) {
  const std::int64_t own = base.scenario.train->micro_batch;
  std::vector<std::int64_t> sizes = {own};
  for (std::int64_t size = 1; global_batch && size <= k_largest_micro_batch && *global_batch % size == 0;
       size *= 2)
    sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  Knob knob{"train.micro_batch", {}};
  for (const std::int64_t size : sizes)
    knob.choices.push_back(
        {{fmt::format("train.micro_batch={}", size)}, fmt::format("{}", size), size == own});
  return knob;
}

}  // namespace

Result<YamlNode> base_tree(const BaseScenario& base) {
  SHARDLAB_TRY(YamlNode tree, parse_yaml(base.text, base.file));
  for (const std::string& assignment : base.overrides) SHARDLAB_CHECK_OK(apply_override(tree, assignment));
  return tree;
}

Result<std::vector<Knob>> default_knobs(const BaseScenario& base, std::optional<std::int64_t> global_batch,
                                        const std::vector<int>& offered) {
  SHARDLAB_TRY(const YamlNode tree, base_tree(base));
  std::vector<Knob> knobs;
  std::vector<int> nodes = offered;
  if (offered.empty()) {
    knobs.push_back(cluster_knob(base, nodes));
    if (!global_batch) knobs.back().choices.resize(1);
  }
  for (Knob& knob :
       std::vector<Knob>{parallel_knob(tree, base, nodes), checkpoint_knob(base), loss_knob(base),
                         teacher_knob(base), sync_knob(base), micro_batch_knob(base, global_batch)})
    knobs.push_back(std::move(knob));
  std::erase_if(knobs, [](const Knob& knob) { return knob.choices.size() < 2; });
  return knobs;
}

Knob offload_knob() {
  Knob knob{"offload", {{{}, "as given", true}}};
  knob.choices.push_back({{"offload.parameters=cpu"}, "parameters"});
  knob.choices.push_back({{"offload.optimizer=cpu"}, "optimizer"});
  knob.choices.push_back({{"offload.parameters=cpu", "offload.optimizer=cpu"}, "parameters and optimizer"});
  return knob;
}

}  // namespace shardlab

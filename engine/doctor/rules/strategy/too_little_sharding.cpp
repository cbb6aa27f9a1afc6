// States that one device cannot hold.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/strategy_settings.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Stronger sharding of what is gathered, the mildest first.
std::vector<std::vector<std::string>> stronger(const ParallelSpec& parallel, Framework framework) {
  std::vector<std::vector<std::string>> levels;
  if (framework == Framework::fsdp1) {
    if (is_hybrid(parallel.sharding))
      levels.push_back({"parallel.sharding=full_shard", "parallel.mesh={}"});
    else if (parallel.sharding != Fsdp1Sharding::full_shard)
      levels.push_back({"parallel.sharding=full_shard"});
    return levels;
  }
  if (parallel.reshard_after_forward.kind != ReshardKind::always)
    levels.push_back({"parallel.reshard_after_forward=true"});
  if (!parallel.reshard_after_backward) levels.push_back({"parallel.reshard_after_backward=true"});
  if (parallel.mesh.replicate > 1)
    levels.push_back({"parallel.mesh={}", "parallel.reshard_after_forward=true"});
  return levels;
}

std::vector<Finding> check_sharding(const Rule& rule, const Case& facts) {
  const Scenario& scenario = *facts.job->scenario;
  if (!lacks_memory(facts) || !facts_of(scenario).gathers_units) return {};
  Finding finding =
      memory_finding(rule, facts, std::nullopt,
                     {{RemedyStep::sharding, stronger(*scenario.parallel, facts_of(scenario).framework)}});
  finding.evidence.push_back(evidence_of_key(facts, "parallel.strategy"));
  return {finding};
}

Rule shard_everything() {
  return {
      .id = "strategy/shard-everything",
      .codes = {"B-03", "D-17"},
      .title = "the parameters do not fit",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction},
      .threshold = "gathered parameters above the device's memory",
      .source = "shardlab's prediction",
      .message = "Gathered parameters alone exceed the device.",
      .explanation = "All of the state must be sharded.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.reshard_after_forward=true"},
              .text = "shard everything"},
      .example = "70 billion parameters on GPUs of 80 GB",
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_sharding}},
  };
}

std::vector<Finding> check_replicas(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  if (!lacks_memory(facts) || planned.plan.steady.world_size == 1 ||
      !replicates_state(*planned.scenario.parallel))
    return {};
  if (facts_of(planned.scenario).framework == Framework::deepspeed) return {};
  std::vector<std::vector<std::string>> levels = strategy_settings(Framework::fsdp2);
  levels.push_back({"parallel.sharding=full_shard"});
  Finding finding =
      memory_finding(rule, facts, MemoryCause::replicated, {{RemedyStep::sharding, std::move(levels)}});
  finding.evidence.push_back(evidence_of_key(facts, "parallel.strategy"));
  return {finding};
}

Rule single_device_too_small() {
  return {
      .id = "strategy/single-device-too-small",
      .codes = {"C-08"},
      .title = "one device is too small",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::plan, Need::prediction, Need::log},
      .threshold = "peak of a replica above the device's memory",
      .source = "shardlab's prediction",
      .message = "Memory ran out while the model itself was loaded or moved to the device.",
      .explanation =
          "Parameters, gradients and states of Adam are 16 bytes a parameter. A model that does not fit must "
          "be sharded before it is moved.",
      .fix = {.kind = FixKind::settings,
              .text = "shard, and build on the meta device or load from shards (parallel.initialization)"},
      .example =
          "File \"transformers/modeling_utils.py\", line 3500, in from_pretrained\ntorch.OutOfMemoryError: "
          "CUDA out of memory. Tried to allocate 224.00 MiB.",
      .signs =
          {
              {.pattern = "out of memory", .certainty = 84, .frame = "in from_pretrained"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "in from_pretrained"},
              {.pattern = "out of memory", .certainty = 84, .frame = "module.py*in _apply"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "module.py*in _apply"},
              {.pattern = "out of memory", .certainty = 84, .frame = "in load_checkpoint_and_dispatch"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "in load_checkpoint_and_dispatch"},
              {.pattern = "out of memory", .certainty = 84, .frame = "in _load_state_dict_into_meta_model"},
              {.pattern = "outofmemoryerror",
               .certainty = 84,
               .frame = "in _load_state_dict_into_meta_model"},
              {.pattern = "out of memory", .certainty = 84, .frame = "in set_module_tensor_to_device"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "in set_module_tensor_to_device"},
              {.pattern = "out of memory", .certainty = 84, .frame = "in load_model"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "in load_model"},
              {.pattern = "out of memory", .certainty = 84, .frame = "in dispatch_model"},
              {.pattern = "outofmemoryerror", .certainty = 84, .frame = "in dispatch_model"},
          },
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_replicas}},
  };
}

std::vector<Finding> check_stage(const Rule& rule, const Case& facts) {
  const StrategyFacts& strategy = facts_of(*facts.job->scenario);
  if (!lacks_memory(facts) || strategy.framework != Framework::deepspeed || strategy.zero_stage >= 3)
    return {};
  std::vector<std::vector<std::string>> levels;
  for (int stage = strategy.zero_stage + 1; stage <= 3; ++stage) {
    for (std::vector<std::string>& higher : strategy_settings(Framework::deepspeed, stage))
      levels.push_back(std::move(higher));
  }
  Finding finding =
      memory_finding(rule, facts, MemoryCause::stage, {{RemedyStep::sharding, std::move(levels)}});
  finding.evidence.push_back(evidence_of_key(facts, "parallel.strategy"));
  return {finding};
}

Rule raise_stage() {
  return {
      .id = "strategy/raise-stage",
      .codes = {"E-06"},
      .title = "a higher ZeRO stage would fit",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction, Need::log},
      .threshold = "stage below 3 and peak above the device's memory",
      .source = "deepspeed/runtime/zero",
      .message = "Memory ran out below stage 3.",
      .explanation = "Stage 1 shards the optimizer's states, 2 gradients, 3 parameters.",
      .fix = {.kind = FixKind::settings, .text = "raise the stage"},
      .example =
          "File \"deepspeed/runtime/zero/stage_1_and_2.py\", line 402, in __init__\ntorch.OutOfMemoryError: "
          "CUDA out of memory. Tried to allocate 12.55 GiB.",
      .signs =
          {
              {.pattern = "out of memory", .certainty = 86, .frame = "stage_1_and_2.py"},
              {.pattern = "outofmemoryerror", .certainty = 86, .frame = "stage_1_and_2.py"},
              {.pattern = "out of memory", .certainty = 86, .frame = "zero/stage2.py"},
              {.pattern = "outofmemoryerror", .certainty = 86, .frame = "zero/stage2.py"},
              {.pattern = "out of memory", .certainty = 86, .frame = "zero/stage1.py"},
              {.pattern = "outofmemoryerror", .certainty = 86, .frame = "zero/stage1.py"},
          },
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_stage}},
  };
}

}  // namespace

std::vector<Rule> strategy_too_little_sharding_rules() {
  return {shard_everything(), single_device_too_small(), raise_stage()};
}

}  // namespace shardlab

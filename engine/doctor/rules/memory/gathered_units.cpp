// Units that are too large to be gathered.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/job/unit_facts.h"
#include "engine/doctor/rules/rule_list.h"
#include "engine/plan/unit_sizes.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// A unit for each layer, and one for each larger module outside of them (embedding, head).
std::string units_of_large_modules(const ModelGraph& graph) {
  std::string match = fmt::format("{{class: {}}}", graph.block_class);
  for (const Module& module : graph.modules) {
    std::int64_t own = 0;
    for (const ParameterId id : module.parameters) own += graph.parameter(id).elements();
    if (own > stored_elements_per_layer(graph) / 4 && module.path.find(".layers.") == std::string::npos)
      match += fmt::format(", {{path: {}}}", module.path);
  }
  return fmt::format("parallel.wrap={{policy: lambda, match: [{}]}}", match);
}

UnitId largest_gathered(const StepPlan& plan) {
  const std::vector<Bytes> gathered = gathered_bytes(plan);
  const auto largest = std::max_element(gathered.begin(), gathered.end());
  return make_id<UnitId>(static_cast<std::size_t>(largest - gathered.begin()));
}

std::vector<Finding> check_gathered(const Rule& rule, const Case& facts) {
  const PlannedScenario& planned = *facts.job->planned;
  if (!lacks_memory(facts) || !gathers(planned.plan.steady)) return {};
  std::vector<Remedy> remedies;
  if (facts_of(planned.scenario).gathers_units)
    remedies.push_back({RemedyStep::wrapping, {{units_of_large_modules(planned.graph)}}});
  if (planned.scenario.precision->reduce == DType::float32 && element_size(planned.graph.compute_dtype) == 2)
    remedies.push_back({RemedyStep::lower_types, {{"precision.reduce=bfloat16"}}});
  Finding finding = memory_finding(rule, facts, MemoryCause::gathered, std::move(remedies));
  finding.evidence.push_back(evidence_of_unit(facts, largest_gathered(planned.plan.steady)));
  return {finding};
}

// ZeRO-3 has no units that somebody chooses: settings say how much is gathered at once.
LogSign in_a_gather_of_zero3(std::string_view pattern, std::string_view frame) {
  return {.pattern = pattern,
          .certainty = 93,
          .frame = frame,
          .message =
              "The allocation that failed is the buffer in which ZeRO-3 gathers parameters: they do not "
              "fit beside what is alive.",
          .fix =
              "lower stage3_max_live_parameters, stage3_max_reuse_distance and "
              "stage3_prefetch_bucket_size; where one module alone does not fit, a smaller micro-batch or "
              "activation checkpointing makes room for it"};
}

Rule gather_does_not_fit() {
  return {
      .id = "memory/gather-does-not-fit",
      .codes = {"A-09", "A-10"},
      .title = "memory ran out while a unit was gathered",
      .severity = Severity::error,
      .needs = {Need::plan, Need::prediction, Need::log},
      .threshold =
          "the peak's instruction is a gather, and this unit with the one before it is the largest item; or "
          "a frame of a gather above an allocation failure",
      .source =
          "torch/distributed/fsdp/_flat_param.py (_alloc_padded_unsharded_flat_param), "
          "_fully_shard/_fsdp_collectives.py, deepspeed/runtime/zero/partition_parameters.py",
      .message =
          "The allocation that failed is the buffer of an all-gather: the unit does not fit beside what is "
          "alive.",
      .explanation =
          "A unit is gathered whole, and the next one is gathered ahead of it. Smaller units lower both: "
          "attention and MLP apart, embedding and head alone; with a size policy a smaller minimum, and a "
          "look at what the policy left over for the root.",
      .fix = {.kind = FixKind::settings,
              .text = "choose smaller units (parallel.wrap.policy, parallel.wrap.min_params); prefetching "
                      "the next unit later saves one of them"},
      .example =
          "File \"torch/distributed/fsdp/_flat_param.py\", line 1381, in "
          "_alloc_padded_unsharded_flat_param\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
          "388.00 MiB.",
      .signs =
          {
              {.pattern = "out of memory", .certainty = 92, .frame = "_alloc_padded_unsharded_flat_param"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "_alloc_padded_unsharded_flat_param"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in unshard"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in unshard"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in _unshard"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in _unshard"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in foreach_all_gather"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in foreach_all_gather"},
              {.pattern = "out of memory", .certainty = 92, .frame = "all_gather_copy_in"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "all_gather_copy_in"},
              in_a_gather_of_zero3("out of memory", "partition_parameters*all_gather"),
              in_a_gather_of_zero3("outofmemoryerror", "partition_parameters*all_gather"),
              in_a_gather_of_zero3("out of memory", "partition_parameters*allgather"),
              in_a_gather_of_zero3("outofmemoryerror", "partition_parameters*allgather"),
              in_a_gather_of_zero3("out of memory", "in all_gather_coalesced"),
              in_a_gather_of_zero3("outofmemoryerror", "in all_gather_coalesced"),
              in_a_gather_of_zero3("out of memory", "in fetch_sub_module"),
              in_a_gather_of_zero3("outofmemoryerror", "in fetch_sub_module"),
              in_a_gather_of_zero3("out of memory", "in __all_gather_params"),
              in_a_gather_of_zero3("outofmemoryerror", "in __all_gather_params"),
              {.pattern = "out of memory", .certainty = 92, .frame = "all_gather_into_tensor"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "all_gather_into_tensor"},
              {.pattern = "out of memory", .certainty = 90, .frame = "in wait_for_unshard"},
              {.pattern = "outofmemoryerror", .certainty = 90, .frame = "in wait_for_unshard"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in init_unsharded_param"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in init_unsharded_param"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in alloc_all_gather_outputs"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in alloc_all_gather_outputs"},
              {.pattern = "out of memory", .certainty = 92, .frame = "in _all_gather_flat_param"},
              {.pattern = "outofmemoryerror", .certainty = 92, .frame = "in _all_gather_flat_param"},
          },
      .checks = {{.needs = {Need::plan, Need::prediction}, .run = check_gathered}},
  };
}

}  // namespace

std::vector<Rule> memory_gathered_units_rules() {
  return {gather_does_not_fit()};
}

}  // namespace shardlab

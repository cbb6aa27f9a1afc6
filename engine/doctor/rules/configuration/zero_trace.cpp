// ZeRO-3's record of the order of modules.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_not_used =
    "A parameter that was gathered ahead was not used: the order of modules differs from the one that "
    "ZeRO-3 recorded.";
constexpr std::string_view k_same_order =
    "keep the order of modules the same in every step, mark a module of experts as a leaf "
    "(deepspeed.utils.set_z3_leaf_modules), or stage3_prefetch_bucket_size=0";
constexpr std::string_view k_other_modules =
    "Ranks entered different modules, and ZeRO-3 compares their traces once: experts are entered by the "
    "ranks whose tokens ask for them.";
constexpr std::string_view k_leaf =
    "mark the block of experts as a leaf: zero_optimization.leaf_module.classes, or "
    "deepspeed.utils.set_z3_leaf_modules before deepspeed.initialize";

Rule trace_invalidated() {
  return {
      .id = "configuration/trace-invalidated",
      .codes = {"X-10"},
      .title = "ZeRO-3 cannot follow the order of modules",
      .severity = Severity::warning,
      .needs = {Need::log},
      .source = "deepspeed/runtime/zero/partitioned_param_coordinator.py",
      .message =
          "The order of modules changes between steps: ZeRO-3 forgets its trace and does not prefetch.",
      .explanation =
          "Dynamic control flow (experts, dropped layers, evaluation in between) changes it; each change "
          "resets the trace. In the first steps, and at the change between training and evaluation, it is "
          "expected.",
      .fix = {.kind = FixKind::code,
              .text = "keep the order of modules the same in every step; mark a module of experts as a leaf "
                      "(deepspeed.utils.set_z3_leaf_modules)"},
      .example = "Invalidate trace cache @ step 10: expected module 11, but got module 19",
      .signs =
          {
              {.pattern = "disagreement on list length between rank0",
               .certainty = 88,
               .message = k_other_modules,
               .fix = k_leaf},
              {.pattern = "still have inflight params",
               .certainty = 90,
               .message = k_not_used,
               .fix = k_same_order},
              {.pattern = "inflight params", .certainty = 80, .message = k_not_used, .fix = k_same_order},
              {.pattern = "tracing error at step",
               .certainty = 88,
               .message = k_not_used,
               .fix = k_same_order},
              {.pattern = "parameter fetch queue",
               .certainty = 86,
               .message = k_not_used,
               .fix = k_same_order},
              {.pattern = "invalidate trace cache", .certainty = 92},
              {.pattern = "trace cache*expected module", .certainty = 92},
              {.pattern = "tracing failed because the*module order", .certainty = 80},
              {.pattern = "module order*changed", .certainty = 60},
          },
  };
}

}  // namespace

std::vector<Rule> configuration_zero_trace_rules() {
  return {trace_invalidated()};
}

}  // namespace shardlab

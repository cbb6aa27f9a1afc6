// Parameters that the loss does not reach.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_twice =
    "A parameter's gradient came twice in one backward: reentrant checkpointing under DDP, or a module that "
    "is used in two forwards.";
constexpr std::string_view k_twice_fix =
    "gradient_checkpointing_kwargs={\"use_reentrant\": False}, or static_graph=True where the graph never "
    "changes";

Rule unused_parameters() {
  return {
      .id = "training/unused-parameters",
      .codes = {"Y-03"},
      .title = "parameters that the loss does not reach",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/csrc/distributed/c10d/reducer.cpp",
      .message = "DDP waits for gradients of parameters that took no part in the loss.",
      .explanation =
          "Buckets with such parameters never fill. Finding them costs a pass over the graph in every step; "
          "freezing what is never used costs nothing.",
      .fix = {.kind = FixKind::settings,
              .set = {"parallel.ddp.find_unused_parameters=true"},
              .text = "find unused parameters, or freeze or remove those that are never used"},
      .example =
          "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new "
          "one.",
      .signs =
          {
              {.pattern = "is not needed when a module doesn't have any parameters that require a gradient",
               .certainty = 78,
               .message = "Nothing in the module that is given to DDP can be trained.",
               .fix = "leave the frozen module out of DDP (accelerator.prepare wraps what it gets), or "
                      "unfreeze something"},
              {.pattern = "has been marked as ready twice",
               .certainty = 66,
               .message = k_twice,
               .fix = k_twice_fix},
              {.pattern = "expected to have finished reduction in the prior iteration", .certainty = 95},
              {.pattern = "parameters that were not used in producing loss", .certainty = 90},
              {.pattern = "the synchronization of gradients doesn't exit properly", .certainty = 74},
              {.pattern = "your training graph has changed in this iteration", .certainty = 88},
              {.pattern = "parameter indices which did not receive grad", .certainty = 93},
              {.pattern = "parameters which did not receive grad", .certainty = 93},
              {.pattern = "did not receive grad for rank", .certainty = 93},
              {.pattern = "find_unused_parameters=true was specified*but did not find any unused",
               .certainty = 50,
               .message =
                   "find_unused_parameters is on and found none: the pass over the graph can be saved.",
               .most = Severity::info},
              {.pattern = "you set*find_unused_parameters*did not find any",
               .certainty = 50,
               .most = Severity::info},
              {.pattern = "expected to mark a variable ready only once",
               .certainty = 64,
               .message = "DDP met a parameter twice in one backward: reentrant checkpointing, or two "
                          "forwards before one backward, run its hook again.",
               .fix = "use_reentrant=False for checkpointing; find_unused_parameters off; static_graph=True "
                      "where the graph does not change"},
          },
  };
}

}  // namespace

std::vector<Rule> training_unused_parameters_rules() {
  return {unused_parameters()};
}

}  // namespace shardlab

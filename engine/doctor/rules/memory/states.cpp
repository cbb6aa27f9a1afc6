// States at rest: parameters, gradients, optimizer.
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/peak_parts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_states(const Rule& rule, const Case& facts) {
  if (!lacks_memory(facts)) return {};
  return {
      memory_finding(rule, facts, MemoryCause::states,
                     {{RemedyStep::optimizer_offload, {{"offload.optimizer=cpu"}}},
                      {RemedyStep::parameter_offload,
                       {{"offload.parameters=cpu"}, {"offload.optimizer=cpu", "offload.parameters=cpu"}}}})};
}

Rule states_dominate() {
  return {
      .id = "memory/states-dominate",
      .codes = {"A-06", "D-05", "E-07"},
      .title = "parameters and optimizer states do not fit",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::log},
      .threshold = "states at rest above the device's memory",
      .source = "shardlab's prediction; DeepSpeed's ZeRO-Offload",
      .message = "Memory ran out while optimizer states or parameters were made, not activations.",
      .explanation =
          "States at rest take the same memory whatever the batch. What more sharding cannot lower, offload "
          "can: the optimizer first, then parameters; pinned host memory must hold 16 to 18 bytes a "
          "parameter and node.",
      .fix = {.kind = FixKind::settings,
              .set = {"offload.optimizer=cpu"},
              .text = "offload the optimizer first, then parameters; more ranks or stronger sharding cost "
                      "less time where there are any"},
      .example =
          "File \"torch/optim/adamw.py\", line 130, in _init_group\ntorch.OutOfMemoryError: CUDA out of "
          "memory. Tried to allocate 1.96 GiB.",
      .signs =
          {
              {.pattern = "out of memory", .certainty = 88, .frame = "torch/optim/*in step"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "torch/optim/*in step"},
              {.pattern = "out of memory", .certainty = 88, .frame = "torch/optim/*in _init_group"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "torch/optim/*in _init_group"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in _multi_tensor_adam"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in _multi_tensor_adam"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in initialize_optimizer_states"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in initialize_optimizer_states"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in _create_fp32_partitions"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in _create_fp32_partitions"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in _setup_for_real_optimizer"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in _setup_for_real_optimizer"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in _configure_zero_optimizer"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in _configure_zero_optimizer"},
              {.pattern = "out of memory", .certainty = 88, .frame = "bitsandbytes/optim"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "bitsandbytes/optim"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in init_state"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in init_state"},
              {.pattern = "out of memory", .certainty = 88, .frame = "stage3.py*in step"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "stage3.py*in step"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in get_optimizer_state"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in get_optimizer_state"},
              {.pattern = "out of memory", .certainty = 88, .frame = "in flatten_dense_tensors_aligned"},
              {.pattern = "outofmemoryerror", .certainty = 88, .frame = "in flatten_dense_tensors_aligned"},
          },
      .checks = {{.needs = {Need::prediction}, .run = check_states}},
  };
}

}  // namespace

std::vector<Rule> memory_states_rules() {
  return {states_dominate()};
}

}  // namespace shardlab

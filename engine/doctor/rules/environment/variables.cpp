// Variables that nobody reads, or that name what is not there.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<MachineRemark> strange_variables(const Case&, const MachineFacts& machine) {
  std::vector<MachineRemark> remarks;
  for (const StrangeVariable& strange : machine.strange_variables) {
    remarks.push_back({fmt::format("{}: {}.", strange.name, strange.why),
                       Severity::warning,
                       {evidence_of_variable(machine, strange.name)}});
  }
  return remarks;
}

Rule unknown_variables() {
  return {
      .id = "environment/unknown-variables",
      .codes = {"E-36"},
      .title = "a variable that no library reads",
      .severity = Severity::warning,
      .needs = {Need::environment, Need::log},
      .source = "torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp",
      .message = "The environment sets a variable that is not read, or was renamed.",
      .explanation =
          "NCCL_ASYNC_ERROR_HANDLING became TORCH_NCCL_ASYNC_ERROR_HANDLING; others were never read.",
      .fix = {.kind = FixKind::environment,
              .text = "use the name that is read; PyTorch's begin with TORCH_NCCL_"},
      .example =
          "Warning: Environment variable NCCL_ASYNC_ERROR_HANDLING is deprecated; use "
          "TORCH_NCCL_ASYNC_ERROR_HANDLING instead",
      .signs =
          {
              {.pattern = "environment variable*is deprecated; use", .certainty = 60, .most = Severity::info},
              {.pattern = "pytorch_cuda_alloc_conf is deprecated", .certainty = 60, .most = Severity::info},
              {.pattern = "unrecognized cachingallocator option", .certainty = 90},
              {.pattern = "unrecognized key*in cuda allocator config", .certainty = 90},
              {.pattern = "unrecognized*allocator*option", .certainty = 85},
              {.pattern = "nccl_*unknown value", .certainty = 70},
              {.pattern = "unknown nccl environment", .certainty = 80},
              {.pattern = "invalid value for*nccl_", .certainty = 70},
              {.pattern = "expandable_segments not supported on this platform",
               .certainty = 60,
               .most = Severity::info},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<strange_variables>}},
  };
}

}  // namespace

std::vector<Rule> environment_variables_rules() {
  return {unknown_variables()};
}

}  // namespace shardlab

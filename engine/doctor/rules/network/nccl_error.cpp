// An error of NCCL that says no more.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule nccl_error() {
  return {
      .id = "network/nccl-error",
      .codes = {"D-02"},
      .title = "NCCL failed",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/csrc/distributed/c10d/NCCLUtils.hpp; NCCL's error classes",
      .message = "NCCL reports an error; its first warning says why.",
      .explanation =
          "PyTorch shows the class of the error only. NCCL's own log, from NCCL_DEBUG=WARN on, has the line "
          "before it. \"Unhandled cuda error\" is an error of CUDA in NCCL's calls, often an older one that "
          "surfaces there.",
      .fix = {.kind = FixKind::environment,
              .set = {"NCCL_DEBUG=WARN"},
              .text = "run again with NCCL's log and read its first warning"},
      .example =
          "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:269, unhandled system error (run "
          "with NCCL_DEBUG=INFO for details), NCCL version 2.19.3",
      .signs =
          {
              {.pattern = "nccl info bootstrap.cc:*-> ", .certainty = 46, .role = Role::symptom},
              {.pattern = "nccl info init.cc:*-> ", .certainty = 46, .role = Role::symptom},
              {.pattern = "unhandled cuda error", .certainty = 72, .role = Role::symptom},
              {.pattern = "unhandled system error", .certainty = 72, .role = Role::symptom},
              {.pattern = "ncclunhandledcudaerror", .certainty = 72, .role = Role::symptom},
              {.pattern = "ncclsystemerror", .certainty = 70, .role = Role::symptom},
              {.pattern = "ncclinternalerror", .certainty = 66, .role = Role::symptom},
              {.pattern = "ncclinvalidusage", .certainty = 60, .role = Role::symptom},
              {.pattern = "ncclinvalidargument", .certainty = 66},
              {.pattern = "nccl error in:", .certainty = 58, .role = Role::symptom},
              {.pattern = "nccl error",
               .certainty = 54,
               .role = Role::symptom,
               .unless = {"illegal memory access", "device-side assert"}},
              {.pattern = "distbackenderror",
               .certainty = 52,
               .role = Role::symptom,
               .unless = {"illegal memory access", "device-side assert"}},
              {.pattern = "nccl warn cuda failure", .certainty = 72},
              {.pattern = "nccl warn", .certainty = 48, .role = Role::symptom},
              {.pattern = "invalid usage*nccl version", .certainty = 58},
              {.pattern = "nccl*internal error", .certainty = 60},
              {.pattern = "failed to initialize nccl", .certainty = 64},
              {.pattern = "nccl backend in distributedelastic", .certainty = 10, .most = Severity::info},
              {.pattern = "cuda error: an illegal memory access was encountered*nccl", .certainty = 60},
              {.pattern = "nccl communicator was aborted", .certainty = 45, .role = Role::symptom},
              {.pattern = "rccl*error", .certainty = 54},
              {.pattern = "hccl*error", .certainty = 50},
          },
  };
}

}  // namespace

std::vector<Rule> network_nccl_error_rules() {
  return {nccl_error()};
}

}  // namespace shardlab

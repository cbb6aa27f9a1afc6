// Locked memory of the host.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_pinned(const Rule& rule, const Case& facts) {
  constexpr double k_much = 0.8;
  const JobFacts& job = *facts.job;
  if (!job.predicted->memory || job.device->host_memory.value == 0) return {};
  Bytes pinned;
  for (const SpaceMemory& space : job.predicted->memory->spaces) {
    if (space.space == MemorySpace::pinned_host) pinned = space.peak * job.device->ranks_per_node;
  }
  const double share = static_cast<double>(pinned.value) / static_cast<double>(job.device->host_memory.value);
  if (share <= k_much) return {};
  Finding finding = effect_finding(rule, facts, {{"offload.pin=false"}});
  finding.severity = Severity::info;
  finding.message =
      fmt::format("{} of a node's {} are pinned; a system that swaps or a lower limit refuses it.",
                  to_string(pinned), to_string(job.device->host_memory));
  finding.evidence = {evidence_of_key(facts, "offload.pin")};
  return {finding};
}

Rule pinned_too_much() {
  return {
      .id = "memory/pinned-too-much",
      .codes = {"X-15"},
      .title = "pinned host memory cannot be had",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::prediction, Need::environment, Need::log},
      .threshold = "pinned bytes above 80 % of host memory",
      .source = "CUDA's cudaHostAlloc; c10's pinned allocator; DeepSpeed's pin_memory",
      .message = "Pinning host memory failed: offloaded states exceed what the host can lock.",
      .explanation =
          "Pinned memory is locked in place and cannot be swapped. Rounding to powers of two by the pinned "
          "allocator can double a large buffer, and every rank pins its own.",
      .fix = {.kind = FixKind::settings,
              .set = {"offload.pin=false"},
              .text = "turn pinning off for parameters, or use fewer processes a node; raise ulimit -l where "
                      "it is limited"},
      .example =
          "File \"deepspeed/accelerator/cuda_accelerator.py\", line 296, in pin_memory\nRuntimeError: CUDA "
          "error: invalid argument",
      .signs =
          {
              {.pattern = "pin_memory*cuda error", .certainty = 80},
              {.pattern = "out of memory", .certainty = 86, .frame = "pin_memory("},
              {.pattern = "cuda error: invalid argument", .certainty = 90, .frame = "pin_memory"},
              {.pattern = "cuda error: out of memory", .certainty = 85, .frame = "pin_memory"},
              {.pattern = "cuda error: resource already mapped", .certainty = 75, .frame = "pin_memory"},
              {.pattern = "cuda error*host memory", .certainty = 50},
              {.pattern = "cudahostalloc*failed", .certainty = 88},
              {.pattern = "cudahostregister*failed", .certainty = 88},
              {.pattern = "cudaerrorhostmemoryalreadyregistered", .certainty = 80},
              {.pattern = "error in pinning*memory", .certainty = 75},
              {.pattern = "failed to pin*memory", .certainty = 80},
              {.pattern = "pinned memory*exceed", .certainty = 60},
              {.pattern = "cannot pin*memory", .certainty = 60, .unless = {"only dense"}},
              {.pattern = "memlock*limit", .certainty = 55},
              {.pattern = "ibv_reg_mr*cannot allocate memory", .certainty = 60},
          },
      .checks = {{.needs = {Need::configuration, Need::prediction}, .run = check_pinned}},
  };
}

}  // namespace

std::vector<Rule> memory_pinned_memory_rules() {
  return {pinned_too_much()};
}

}  // namespace shardlab

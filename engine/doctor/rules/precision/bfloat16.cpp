// bfloat16: where it is missing and where it is too coarse.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr int k_first_with_bfloat16 = 80;

std::vector<Finding> check_capability(const Rule& rule, const Case& facts) {
  const JobFacts& job = *facts.job;
  const int capability = job.device->cuda_capability;
  if (job.planned->graph.compute_dtype != DType::bfloat16 || capability == 0 ||
      capability >= k_first_with_bfloat16)
    return {};
  Finding finding = effect_finding(rule, facts, {{"precision.param=float16"}});
  finding.message = job.device->name + " has no arithmetic for bfloat16.";
  finding.evidence = {evidence_of_key(facts, "precision.param"), evidence_of_key(facts, "cluster.gpu")};
  return {finding};
}

std::vector<MachineRemark> capability_remarks(const Case& facts, const MachineFacts& machine) {
  if (facts.job->planned->graph.compute_dtype != DType::bfloat16) return {};
  for (const MachineGpu& gpu : machine.gpus) {
    if (gpu.capability == 0 || gpu.capability >= k_first_with_bfloat16) continue;
    return {{fmt::format("{} of {} has no arithmetic for bfloat16.", gpu.name, name_of(machine)),
             Severity::error,
             {evidence_of_machine(
                  machine, fmt::format("GPU {}", gpu.index),
                  fmt::format("compute capability {}.{}", gpu.capability / 10, gpu.capability % 10)),
              evidence_of_key(facts, "precision.param")}}};
  }
  return {};
}

Rule no_bfloat16() {
  return {
      .id = "precision/no-bfloat16",
      .codes = {"B-08"},
      .title = "the device has no bfloat16",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::plan, Need::prediction, Need::environment, Need::log},
      .threshold = "compute capability below 8.0",
      .source =
          "CUDA's table of compute capabilities; transformers/training_args.py; torch.cuda.is_bf16_supported",
      .message = "bfloat16 was asked for on a device, or with a version, that does not have it.",
      .explanation = "Matrix units for bfloat16 came with compute capability 8.0.",
      .fix = {.kind = FixKind::settings,
              .set = {"precision.param=float16", "scaler.enabled=true"},
              .text = "use float16 with a scaler; a version of PyTorch built for the device's CUDA where the "
                      "device does have it"},
      .example =
          "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with "
          "cuda>=11.0",
      .signs =
          {
              {.pattern = "setup doesn't support bf16", .certainty = 95},
              {.pattern = "bf16*not supported", .certainty = 80},
              {.pattern = "bf16*requires*ampere", .certainty = 90},
              {.pattern = "ptxas*bf16*requires .target sm_80", .certainty = 90},
              {.pattern = "bf16*requires pytorch", .certainty = 85},
              {.pattern = "bf16 mixed precision requires", .certainty = 92},
              {.pattern = "bfloat16 is only supported on gpus with compute capability", .certainty = 95},
              {.pattern = "bfloat16*not supported", .certainty = 75, .unless = {"casting to"}},
              {.pattern = "current cuda device does not support bfloat16", .certainty = 93},
              {.pattern = "not support*bf16", .certainty = 75},
              {.pattern = "not support*bfloat16", .certainty = 75, .unless = {"natively, skipping"}},
              {.pattern = "only bf16 supports ampere", .certainty = 70},
              {.pattern = "tf32 requires ampere", .certainty = 60},
          },
      .checks = {{.needs = {Need::configuration, Need::plan, Need::prediction}, .run = check_capability},
                 {.needs = {Need::configuration, Need::plan, Need::environment},
                  .run = machine_check<capability_remarks>}},
  };
}

}  // namespace

std::vector<Rule> precision_bfloat16_rules() {
  return {no_bfloat16()};
}

}  // namespace shardlab

// Clipping of gradients by their norm.
#include "engine/doctor/case.h"
#include "engine/doctor/program/program_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_clipped(const Rule& rule, const Case& facts) {
  const TrainingProgram& program = *facts.program;
  const std::vector<Call> wrapped = fsdp1_calls(program);
  const auto clipped = first_line_with(program, {"utils.clip_grad_norm_("});
  const bool shards = !first_line_with(program, {"ShardingStrategy.NO_SHARD"});
  if (wrapped.empty() || !clipped || !shards || !fsdp2_calls(program).empty()) return {};
  return {finding_of_program(rule, 82, {*clipped, wrapped.front()})};
}

Rule clip_by_wrong_function() {
  return {
      .id = "training/clip-by-wrong-function",
      .codes = {"B-07"},
      .title = "gradients are clipped by the wrong function",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::program},
      .source = "torch/distributed/fsdp/fully_sharded_data_parallel.py (clip_grad_norm_)",
      .message = "With FSDP1 the function of torch.nn.utils sees local shards only.",
      .explanation =
          "The method of the wrapper sums over ranks. In FSDP2 the function of torch is right: its gradients "
          "are distributed tensors.",
      .fix = {.kind = FixKind::code,
              .text = "FSDP1: model.clip_grad_norm_(x); FSDP2: torch.nn.utils.clip_grad_norm_"},
      .example = "torch.nn.utils.clip_grad_norm_(fsdp_model.parameters(), 1.0)",
      .checks = {{.needs = {Need::program}, .run = check_clipped}},
  };
}

Rule clip_with_offload() {
  return {
      .id = "training/clip-with-offload",
      .codes = {"X-12"},
      .title = "clipping needs a backend for the CPU",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/fsdp/_fully_shard; torch.distributed.init_process_group",
      .message = "A collective on CPU tensors was asked of a process group that has a backend for GPUs only.",
      .explanation =
          "With parameters offloaded to the CPU the norm is summed over CPU tensors; NCCL cannot do that.",
      .fix = {.kind = FixKind::code, .text = "init_process_group(\"cpu:gloo,cuda:nccl\")"},
      .example = "RuntimeError: No backend type associated with device type cpu",
      .signs =
          {
              {.pattern = "a cpu backend must be enabled for async save",
               .certainty = 88,
               .message = "Saving in the background needs collectives on CPU tensors, and the process group "
                          "has a backend for GPUs only."},
              {.pattern = "no backend type associated with device type cpu", .certainty = 93},
              {.pattern = "no backend type associated with device type", .certainty = 80},
              {.pattern = "tensors must be cuda and dense", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> training_clipping_rules() {
  return {clip_by_wrong_function(), clip_with_offload()};
}

}  // namespace shardlab

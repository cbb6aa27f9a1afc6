// What ZeRO-3 moves and holds where it quantises what it sends (ZeRO++).
#include <algorithm>

#include "engine/planner/plan_scenario.h"
#include "engine/strategies/zero3/quantized_blocks.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

std::vector<std::string> on_gpus(const std::string& zero, std::vector<std::string> more = {}) {
  std::vector<std::string> all{"cluster={gpu: H100-SXM, gpus_per_node: 2}", "model.implementation=fused",
                               "parallel.strategy=zero3", "precision.param=bfloat16",
                               "parallel.zero={stage3_max_reuse_distance: 0, " + zero + "}"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const std::string k_no_persistence = "stage3_param_persistence_threshold: 0, ";
const std::string k_one_by_one =
    k_no_persistence + "stage3_prefetch_bucket_size: 0, zero_quantized_weights: ";
const std::string k_ahead = k_no_persistence + "stage3_prefetch_bucket_size: 12000, zero_quantized_weights: ";

std::string refused(const std::vector<std::string>& overrides) {
  const auto scenario = parse_small_llama(overrides);
  if (!scenario) return to_string(scenario.error());
  const auto planned = plan_scenario(*scenario);
  return planned ? "" : to_string(planned.error());
}

std::int64_t gathered(const StepPlan& plan, DType dtype) {
  std::int64_t bytes = 0;
  for (const Instruction& each : plan.instructions) {
    if (each.kind == InstructionKind::AllGather && plan.buffer(each.writes.front()).dtype == dtype)
      bytes += each.bytes.value;
  }
  return bytes;
}

std::int64_t count(const StepPlan& plan, InstructionKind kind) {
  return std::count_if(plan.instructions.begin(), plan.instructions.end(),
                       [kind](const Instruction& each) { return each.kind == kind; });
}

}  // namespace

TEST_CASE("weights in eight bits: half the bytes of bfloat16, and a scale for each block") {
  const StepPlan plain = plan_small_llama(on_gpus(k_one_by_one + "false")).plan.steady;
  const StepPlan quantized = plan_small_llama(on_gpus(k_one_by_one + "true")).plan.steady;
  CHECK(gathered(quantized, DType::uint8) * 2 == gathered(plain, DType::bfloat16));
  CHECK(gathered(quantized, DType::bfloat16) == 0);
  std::int64_t scales = 0;
  for (const Instruction& each : plain.instructions) {
    if (each.kind != InstructionKind::AllGather) continue;
    const std::int64_t of_a_rank = plain.buffer(each.writes.front()).elements / 2;
    scales += 2 * 4 * weight_blocks(of_a_rank);
  }
  CHECK(gathered(quantized, DType::float32) == scales);
  // Quantised and turned back around every gather; reductions are as they were.
  CHECK(count(quantized, InstructionKind::Quantize) == count(quantized, InstructionKind::AllGather));
  CHECK(count(quantized, InstructionKind::ReduceScatter) == count(plain, InstructionKind::ReduceScatter));
}

TEST_CASE("weights in eight bits: what is gathered together shares two calls") {
  const StepPlan plain = plan_small_llama(on_gpus(k_ahead + "false")).plan.steady;
  const StepPlan quantized = plan_small_llama(on_gpus(k_ahead + "true")).plan.steady;
  CHECK(count(quantized, InstructionKind::AllGather) == 2 * count(plain, InstructionKind::AllGather));
  CHECK(gathered(quantized, DType::uint8) * 2 == gathered(plain, DType::bfloat16));
}

TEST_CASE("weights in eight bits: float16 needs no casts, and what is small is gathered exactly at the end") {
  const auto casts = [](const std::string& zero) {
    const StepPlan plan = plan_small_llama(on_gpus(zero, {"precision.param=float16"})).plan.steady;
    return count(plan, InstructionKind::Cast);
  };
  CHECK(casts(k_ahead + "true") == casts(k_ahead + "false"));
  const StepPlan steady =
      plan_small_llama(on_gpus("stage3_param_persistence_threshold: 100, zero_quantized_weights: true"))
          .plan.steady;
  CHECK(gathered(steady, DType::bfloat16) == 9 * 64 * 2);  // nine norms after the update
}

TEST_CASE("weights in eight bits: neighbours send them too, and what DeepSpeed cannot cut is refused") {
  const std::vector<std::string> four{"cluster={gpu: H100-SXM, gpus_per_node: 4}"};
  const StepPlan plan =
      plan_small_llama(on_gpus(k_one_by_one + "true, zero_hpz_partition_size: 2", four)).plan.steady;
  for (const Instruction& each : plan.instructions) {
    if (each.kind == InstructionKind::AllGather)
      CHECK(plan.buffer(each.writes.front()).dtype != DType::bfloat16);
  }
  CHECK_THAT(refused(on_gpus(k_one_by_one + "true", {"cluster={gpu: H100-SXM, gpus_per_node: 8, nodes: 2}"})),
             contains_text("the 64 of") && contains_text("on each of 16 ranks"));
  CHECK_THAT(refused(on_gpus(k_one_by_one + "true", {"cluster={device: cpu, ranks: 2}"})),
             contains_text("by kernels of GPUs alone"));
}

}  // namespace shardlab::test

// What ZeRO-3 moves and holds where it quantises what it sends (ZeRO++).
#include <algorithm>
#include <utility>

#include "engine/plan/check.h"
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

// Two nodes of two GPUs.
std::vector<std::string> on_nodes(const std::string& zero, std::vector<std::string> more = {}) {
  more.insert(more.begin(), "cluster={gpu: H100-SXM, gpus_per_node: 2, nodes: 2}");
  return on_gpus(zero, std::move(more));
}

bool is_across(const StepPlan& plan, const Instruction& instruction) {
  return plan.groups[instruction.group->index()].ranks.across;
}

std::int64_t exchanged(const StepPlan& plan, bool between_nodes, DType dtype) {
  std::int64_t bytes = 0;
  for (const Instruction& each : plan.instructions) {
    if (each.kind == InstructionKind::AllToAll && is_across(plan, each) == between_nodes &&
        plan.buffer(each.writes.front()).dtype == dtype)
      bytes += each.bytes.value;
  }
  return bytes;
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

TEST_CASE("gradients in four bits: a quarter of bfloat16 within nodes, less by their ranks between them") {
  const PlannedScenario planned = plan_small_llama(on_nodes("zero_quantized_gradients: true"));
  const StepPlan& plan = planned.plan.steady;
  std::int64_t near = 0, near_scales = 0, vectors = 0;
  for (const Parameter& parameter : planned.graph.parameters) {
    if (parameter.shape.size() == 1) {
      vectors += parameter.elements() * 2;
      continue;
    }
    near += parameter.elements() / 2;
    near_scales += 4 * std::max(parameter.shape[0], parameter.shape[1]);
  }
  CHECK(exchanged(plan, false, DType::uint8) == near);
  CHECK(exchanged(plan, true, DType::uint8) == near / 2);
  CHECK(exchanged(plan, false, DType::float32) == near_scales);
  CHECK(exchanged(plan, true, DType::float32) == near_scales / 2);
  std::int64_t scattered = 0;
  for (const Instruction& each : plan.instructions)
    scattered += each.kind == InstructionKind::ReduceScatter ? each.bytes.value : 0;
  CHECK(scattered == vectors);
  CHECK(gathered(plan, DType::bfloat16) > 0);
}

TEST_CASE("gradients in four bits: nothing is exchanged on one node") {
  const auto plan = [](const std::string& zero) { return plan_small_llama(on_gpus(zero)).plan.steady; };
  CHECK(plan("zero_quantized_gradients: true") == plan("zero_quantized_gradients: false"));
}

TEST_CASE("gradients in four bits: the check follows them through both exchanges") {
  const StepPlan sound =
      plan_small_llama(on_nodes("zero_quantized_gradients: true", {"train.accumulation=2"})).plan.steady;
  CHECK(check_plan(sound));
  for (const bool between_nodes : {false, true}) {
    StepPlan plan = sound;
    for (Instruction& each : plan.instructions) {
      if (each.kind == InstructionKind::AllToAll && is_across(plan, each) == between_nodes)
        each.reduce = ReduceOperation::none;
    }
    const Status checked = check_plan(plan);
    REQUIRE_FALSE(checked);
    CHECK_THAT(to_string(checked.error()), contains_text("was not reduced over the ranks"));
  }
}

}  // namespace shardlab::test

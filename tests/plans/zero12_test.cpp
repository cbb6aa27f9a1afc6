// What options of ZeRO-1 and ZeRO-2 put into a plan and leave out.
#include <algorithm>

#include "engine/plan/transfers.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

StepPlan steady(const std::string& zero, std::vector<std::string> more = {}) {
  more.emplace_back("parallel={strategy: zero2, zero: {" + zero + "}}");
  return plan_small_llama(more).plan.steady;
}

std::int64_t count(const StepPlan& plan, InstructionKind kind) {
  return std::count_if(plan.instructions.begin(), plan.instructions.end(),
                       [kind](const Instruction& each) { return each.kind == kind; });
}

std::int64_t moved(const StepPlan& plan, MemorySpace from, MemorySpace to) {
  for (const TransferTotal& total : transfers_of(plan))
    if (total.from == from && total.to == to) return total.bytes.value;
  return 0;
}

std::vector<std::string> on_host(const std::string& accumulation) {
  return {"precision.param=bfloat16", "offload.optimizer=cpu", "train.accumulation=" + accumulation};
}

}  // namespace

TEST_CASE("ZeRO-1 and 2 without a norm: one pass over the gradients and one all-reduce less") {
  for (const char* param : {"float32", "bfloat16", "float16"}) {
    const std::vector<std::string> more{std::string("precision.param=") + param};
    const StepPlan with = steady("compute_grad_norm: true", more);
    const StepPlan without = steady("compute_grad_norm: false", more);
    INFO(param);
    CHECK(count(with, InstructionKind::GradientNorms) == 1);
    CHECK(count(without, InstructionKind::GradientNorms) == 0);
    CHECK(count(without, InstructionKind::AllReduce) + 1 == count(with, InstructionKind::AllReduce));
    for (const InstructionKind kind : {InstructionKind::CheckFinite, InstructionKind::Unscale})
      CHECK(count(without, kind) == count(with, kind));
  }
}

TEST_CASE("ZeRO-2 with state in host memory: what float32 has carried leaves in the parameters' dtype") {
  const StepPlan plain = steady("communication_data_type: bf16", on_host("2"));
  const StepPlan wide = steady("communication_data_type: fp32", on_host("2"));
  CHECK(transfers_of(wide) == transfers_of(plain));
  // A copy before each of the reductions, and one back.
  std::int64_t reductions = 0;
  for (const Instruction& each : wide.instructions) {
    if (each.kind == InstructionKind::AllReduce && each.reduce == ReduceOperation::average) ++reductions;
  }
  CHECK(reductions > 1);
  CHECK(count(wide, InstructionKind::Cast) == count(plain, InstructionKind::Cast) + 2 * reductions);
}

TEST_CASE("ZeRO-2 with state in host memory: float32 sums stay on the device and are sent once") {
  const StepPlan sums = steady("grad_accum_dtype: fp32", on_host("3"));
  const StepPlan once = steady("", on_host("1"));
  const StepPlan there = steady("", on_host("3"));
  const auto device = MemorySpace::device, host = MemorySpace::pinned_host;
  CHECK(moved(sums, device, host) == moved(once, device, host));
  CHECK(moved(sums, host, device) == moved(once, host, device));
  CHECK(moved(there, device, host) > moved(sums, device, host));
  CHECK(carried_bytes(sums, host) == carried_bytes(once, host));
}

}  // namespace shardlab::test

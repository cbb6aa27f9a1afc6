// What options of ZeRO-1 and ZeRO-2 put into a plan and leave out.
#include <algorithm>

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

}  // namespace shardlab::test

// A scaled loss in the plan: what is unscaled, agreed on and guarded, in this order.
#include <algorithm>

#include "engine/plan/check.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

using K = InstructionKind;

// Kinds from the first Unscale to the end, with a mark on the guarded ones.
std::vector<std::string> tail_of(const StepPlan& plan) {
  std::vector<std::string> tail;
  for (const Instruction& instruction : plan.instructions) {
    if (tail.empty() && instruction.kind != K::Unscale) continue;
    std::string name(to_string(instruction.kind));
    if (instruction.guard == Guard::gradients_finite) name += " guarded";
    tail.push_back(std::move(name));
  }
  return tail;
}

}  // namespace

TEST_CASE("float16: unscaled, agreed on by one flag, clipped and stepped under guard") {
  const StepPlan plan = plan_small_llama({"precision.param=float16", "train.clip_norm=1"}).plan.steady;
  CHECK(tail_of(plan) == std::vector<std::string>{"Unscale", "AllReduce", "GradientNorms", "AllReduce",
                                                  "ClipGradients guarded", "Free", "OptimizerStep guarded",
                                                  "Free", "ZeroGradients"});
  const auto agree =
      std::find_if(plan.instructions.begin(), plan.instructions.end(),
                   [](const Instruction& instruction) { return instruction.kind == K::AllReduce; });
  CHECK(agree->bytes == Bytes{4});
  CHECK(agree->reduce == ReduceOperation::sum);
  CHECK(plan.buffer(agree->reads.at(0)).role == BufferRole::found_inf);
}

// What a stage does between its last reduction and the end: kinds, in order.
std::vector<std::string> scaled_tail(const std::string& strategy, const std::vector<std::string>& more) {
  std::vector<std::string> settings{"parallel.strategy=" + strategy, "precision.param=float16"};
  settings.insert(settings.end(), more.begin(), more.end());
  const StepPlan plan = plan_small_llama(settings).plan.steady;
  std::vector<std::string> tail;
  for (const Instruction& instruction : plan.instructions) {
    if (tail.empty() && instruction.kind != K::CheckFinite) continue;
    if (instruction.kind == K::Free || instruction.kind == K::HostWait) continue;
    std::string name(to_string(instruction.kind));
    if (instruction.guard == Guard::gradients_finite) name += " guarded";
    tail.push_back(std::move(name));
  }
  return tail;
}

TEST_CASE("DeepSpeed's float16 keeps the scale in the gradients until the optimizer's are multiplied") {
  using Tail = std::vector<std::string>;
  CHECK(scaled_tail("zero2", {}) == Tail{"CheckFinite", "AllReduce", "GradientNorms", "AllReduce", "Copy",
                                         "Cast", "Unscale guarded", "OptimizerStep guarded", "Cast",
                                         "AllGather", "ZeroGradients"});
  const Tail clipped = scaled_tail("zero1", {"train.clip_norm=1"});
  CHECK(std::count(clipped.begin(), clipped.end(), "Unscale guarded") == 0);
  CHECK(std::count(clipped.begin(), clipped.end(), "ClipGradients guarded") == 1);
  const Tail third = scaled_tail("zero3", {});
  CHECK(std::count(third.begin(), third.end(), "Unscale guarded") == 1);
  CHECK(std::count(third.begin(), third.end(), "CheckFinite") == 1);
  const Tail whole = scaled_tail("zero0", {});
  CHECK(std::count(whole.begin(), whole.end(), "AllReduce") == 0);  // averages are the same everywhere
}

TEST_CASE("replicas see the same gradients: no agreement") {
  const StepPlan plan = plan_small_llama({"parallel.strategy=ddp", "scaler.enabled=true"}).plan.steady;
  CHECK(tail_of(plan) ==
        std::vector<std::string>{"Unscale", "OptimizerStep guarded", "Free", "ZeroGradients"});
}

TEST_CASE("without float16 nothing is scaled") {
  for (const StepPlan& plan :
       {plan_small_llama({"precision.param=bfloat16"}).plan.steady,
        plan_small_llama({"precision.param=float16", "scaler.enabled=false"}).plan.steady}) {
    CHECK(tail_of(plan).empty());
  }
}

TEST_CASE("check finds a guard that nobody decides") {
  StepPlan plan = plan_small_llama({"precision.param=float16"}).plan.steady;
  for (Instruction& instruction : plan.instructions) {
    if (instruction.kind == K::OptimizerStep)
      std::erase_if(instruction.reads,
                    [&](BufferId id) { return plan.buffer(id).role == BufferRole::found_inf; });
  }
  const Status status = check_plan(plan);
  REQUIRE_FALSE(status);
  CHECK_THAT(to_string(status.error()), contains_text("guarded and does not read the flag"));
}

}  // namespace shardlab::test

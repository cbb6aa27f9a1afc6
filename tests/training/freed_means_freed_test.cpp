// What the plan frees is gone: filling released memory with NaN changes nothing, and a plan that frees too
// early is found out.
#include <cmath>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "tests/catch.h"
#include "tests/training/local_run.h"
#include "tests/training/small_model.h"

namespace shardlab::test {
namespace {

class Poison {
 public:
  Poison() { poison_freed_memory(true); }
  ~Poison() { poison_freed_memory(false); }
  Poison(const Poison&) = delete;
  Poison& operator=(const Poison&) = delete;
};

void check_poison_changes_nothing(const std::vector<std::string>& overrides) {
  const PlannedScenario planned = planned_text(k_small_model, overrides);
  install_counting_allocator();
  const Result<Trained> plain = train(planned, 3);
  REQUIRE_OK(plain);
  const Result<Trained> poisoned = [&] {
    const Poison poison;
    return train(planned, 3);
  }();
  REQUIRE_OK(poisoned);
  CHECK(poisoned->losses == plain->losses);
  CHECK(bitwise_equal(poisoned->gradients, plain->gradients));
  CHECK(bitwise_equal(poisoned->parameters, plain->parameters));
  CHECK(worst_difference(plain->parameters, plain->initial).difference > 1e-4);
}

}  // namespace

TEST_CASE("poisoned memory changes no bit of a training") {
  for (const Spread& spread : all_spreads()) {
    if (spread.ranks != 2) continue;
    INFO(spread.name());
    check_poison_changes_nothing(joined({"train.clip_norm=1.0"}, spread.overrides()));
  }
}

TEST_CASE("poisoned memory changes no bit of a training in bfloat16") {
  for (const int accumulation : {1, 2}) {
    const Spread spread{"fsdp2", 2, accumulation, "true"};
    check_poison_changes_nothing(
        joined({"precision.param=bfloat16", "precision.reduce=float32"}, spread.overrides()));
  }
}

TEST_CASE("poisoned memory changes no bit of a single process") {
  check_poison_changes_nothing({"train.clip_norm=1.0"});
}

// The control: the same training from a plan whose gathered parameters are freed before compute has used
// them.
TEST_CASE("a plan that frees gathered parameters too early does not train") {
  PlannedScenario planned = planned_text(k_small_model, Spread{"fsdp2", 2, 1, "true"}.overrides());
  std::vector<Instruction>& instructions = planned.plan.first.instructions;
  bool swapped = false;
  for (std::size_t i = 1; i < instructions.size() && !swapped; ++i) {
    const bool frees_full = instructions[i].kind == InstructionKind::Free && !instructions[i].frees.empty() &&
                            planned.plan.first.buffer(instructions[i].frees.front()).buffer_class ==
                                BufferClass::gathered_parameters;
    if (!frees_full || instructions[i - 1].kind != InstructionKind::Forward) continue;
    std::swap(instructions[i], instructions[i - 1]);
    swapped = true;
  }
  REQUIRE(swapped);
  const Poison poison;
  const Result<Trained> trained = train(planned, 1);
  CHECK((!trained || !std::isfinite(trained->losses.front())));
}

}  // namespace shardlab::test

#include "engine/trace/memory_timeline.h"

#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("phases begin with the instructions that define them") {
  using P = StepPhase;
  CHECK(phases_of(hand_made_plan()) == std::vector<P>{P::forward, P::forward, P::backward, P::backward,
                                                      P::backward, P::optimizer, P::optimizer});
}

TEST_CASE("gradients that become zero where they lie do so before a backward") {
  Instruction zero;
  zero.kind = InstructionKind::ZeroGradients;
  CHECK(phase_that_begins(zero) == StepPhase::optimizer);
  zero.writes = {BufferId{0}};
  CHECK(phase_that_begins(zero) == StepPhase::backward);
}

TEST_CASE("memory summary takes the highest rank and step, and what it was made of") {
  std::vector<StepTrace> steps = {hand_made_step(4, 2), hand_made_step(5, 2)};
  steps[1].ranks[1].memory[2].peak = {260};
  steps[1].ranks[1].memory[2].by_class_at_peak[static_cast<std::size_t>(BufferClass::activation)] = {60};
  const auto memory = summarize_memory(hand_made_plan(), steps);
  REQUIRE(memory);
  CHECK(memory->peak_allocated == Bytes{260});
  CHECK(memory->by_class[static_cast<std::size_t>(BufferClass::activation)] == Bytes{60});
  CHECK(memory->peak_instruction == InstructionId{2});
  CHECK(memory->peak_label == "2 Backward s0 mb0");
  CHECK(memory->peak_rank == 1);
  CHECK(memory->peak_step == 5);
  CHECK(memory->phases == std::array<Bytes, 3>{Bytes{120}, Bytes{260}, Bytes{90}});
}

TEST_CASE("no memory was recorded") {
  StepTrace step = hand_made_step(0);
  step.ranks[0].memory.clear();
  CHECK_FALSE(summarize_memory(hand_made_plan(), {&step, 1}).has_value());
}

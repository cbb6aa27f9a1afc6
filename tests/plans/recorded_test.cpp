// The collectives of a plan between the marks of its units, against those recorded from real PyTorch.
#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

// "F:embed", "F:L0", "F:head" for the segments of a Llama cut at its layers.
std::string mark(const PlannedScenario& planned, const Instruction& instruction) {
  const auto segments = planned.partition.segments.size();
  const std::size_t segment = instruction.segment->index();
  const char direction = instruction.kind == InstructionKind::Forward ? 'F' : 'B';
  if (segment == 0) return fmt::format("{}:embed", direction);
  if (segment + 1 == segments) return fmt::format("{}:head", direction);
  return fmt::format("{}:L{}", direction, segment - 1);
}

// The step in the recorder's shorthand.
std::string shorthand(const PlannedScenario& planned) {
  std::string text;
  const auto put = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  bool in_backward = true;
  const auto backward_begins = [&] {
    if (!in_backward) put("|backward_begin");
    in_backward = true;
  };
  const std::size_t segments = planned.partition.segments.size();
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    switch (instruction.kind) {
      case InstructionKind::LoadBatch:
        if (planned.scenario.train.accumulation > 1) put("|micro");
        in_backward = false;
        break;
      case InstructionKind::Forward: put(mark(planned, instruction)); 
        if (instruction.segment->index() + 1 == segments) backward_begins();
        break;
      case InstructionKind::Backward: put(mark(planned, instruction)); break;
      case InstructionKind::AllGather: put(fmt::format("AG({})", instruction.bytes.value)); break;
      case InstructionKind::ReduceScatter: put(fmt::format("RS({})", instruction.bytes.value)); break;
      case InstructionKind::GradientNorms: put("|clip"); break;
      case InstructionKind::AllReduce: put(fmt::format("AR({})", instruction.bytes.value)); break;
      case InstructionKind::OptimizerStep: put("|optimizer"); break;
      default: break;
    }
  }
  return text;
}

}  // namespace

TEST_CASE("collectives equal those recorded from PyTorch") {
  for (const PlanCase& recorded : read_cases("recorded")) {
    INFO(recorded.name);
    CHECK(shorthand(plan_small_llama(recorded.overrides)) == value_of(recorded, "expect"));
  }
}

}  // namespace shardlab::test

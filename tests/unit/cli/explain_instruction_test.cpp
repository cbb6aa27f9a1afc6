#include "engine/cli/explain_instruction.h"

#include "tests/catch.h"
#include "tests/unit/formats/small_run.h"

namespace shardlab {
namespace {

// The small plan with the gathered buffer read, freed, allocated and read again.
StepPlan plan_with_a_reused_buffer() {
  StepPlan plan = test::small_plan();
  const BufferId gathered{0};
  plan.instructions[0].allocates = {gathered};
  plan.instructions[1].reads = {gathered};
  plan.instructions[2].frees = {gathered};
  plan.instructions.push_back(plan.instructions[0]);
  plan.instructions.push_back(plan.instructions[1]);
  return plan;
}

TEST_CASE("readers of a buffer are those before it is freed or allocated anew") {
  const PlannedScenario planned;
  const StepPlan plan = plan_with_a_reused_buffer();
  const Json first = explanation_json(planned, plan, InstructionId{0}, 0);
  CHECK(first.at("read_by") == Json::array({1}));
  CHECK(first.at("awaited_by") == Json::array({1, 5}));
  CHECK(first.at("previous_on_stream").is_null());
  CHECK(explanation_json(planned, plan, InstructionId{4}, 0).at("read_by") == Json::array({5}));
  CHECK(explanation_json(planned, plan, InstructionId{4}, 0).at("previous_on_stream") == 0);
}

TEST_CASE("the explanation names kind, buffers, stream and pass") {
  const PlannedScenario planned;
  const std::string text = explain_instruction(planned, plan_with_a_reused_buffer(), InstructionId{1}, 0);
  for (const char* part : {"1 Unpack", "gathered.root", "compute", "0 AllGather root", "strategy"}) {
    CHECK_THAT(text, test::contains_text(part));
  }
}

}  // namespace
}  // namespace shardlab

#include "engine/cli/explain_instruction.h"

#include <nlohmann/json.hpp>

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
  const auto json = [&](std::uint32_t id) {
    return explanation_json({planned, ScenarioSource(), plan, InstructionId{id}});
  };
  const Json first = json(0);
  CHECK(first.at("read_by") == Json::array({1}));
  CHECK(first.at("awaited_by") == Json::array({1, 5}));
  CHECK(first.at("previous_on_stream").is_null());
  CHECK(json(4).at("read_by") == Json::array({5}));
  CHECK(json(4).at("previous_on_stream") == 0);
}

TEST_CASE("the explanation names kind, buffers, stream and pass") {
  const PlannedScenario planned;
  const std::string text =
      explain_instruction({planned, ScenarioSource(), plan_with_a_reused_buffer(), InstructionId{1}});
  for (const char* part : {"1 Unpack", "gathered.root", "compute", "0 AllGather root", "strategy"}) {
    CHECK_THAT(text, test::contains_text(part));
  }
}

}  // namespace
}  // namespace shardlab

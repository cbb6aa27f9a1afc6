#include "engine/cli/find_instructions.h"

#include "tests/catch.h"
#include "tests/unit/formats/small_run.h"

namespace shardlab {
namespace {

// The small plan with the gathers of layers 3 and 30 behind it.
StepPlan plan_with_layers() {
  StepPlan plan = test::small_plan();
  for (const char* path : {"model.layers.30", "model.layers.3"}) {
    PlanUnit unit;
    unit.name = path == std::string("model.layers.3") ? "u3" : "u30";
    unit.module_path = path;
    plan.units.push_back(unit);
    Instruction gather = plan.instructions[0];
    gather.unit = make_id<UnitId>(plan.units.size() - 1);
    plan.instructions.push_back(gather);
  }
  return plan;
}

std::vector<std::uint32_t> found(const std::string& text) {
  const auto result = find_instructions(plan_with_layers(), text);
  std::vector<std::uint32_t> ids;
  if (result)
    for (const InstructionId id : *result) ids.push_back(id.value);
  return ids;
}

}  // namespace

TEST_CASE("an instruction is found by number, name and words") {
  CHECK(found("2") == std::vector<std::uint32_t>{2});
  CHECK(found("allgather") == std::vector<std::uint32_t>{0, 4, 5});
  CHECK(found("u3") == std::vector<std::uint32_t>{5});
  CHECK(found("layer 3") == std::vector<std::uint32_t>{5});
  CHECK(found("layer 3 AllGather") == std::vector<std::uint32_t>{5});
  CHECK(found("model.layers.30") == std::vector<std::uint32_t>{4});
}

TEST_CASE("the others of a name are named") {
  const StepPlan plan = plan_with_layers();
  CHECK(other_matches(plan, *find_instructions(plan, "u3")).empty());
  const std::string text = other_matches(plan, *find_instructions(plan, "AllGather"));
  CHECK_THAT(text, test::contains_text("2 more"));
  CHECK_THAT(text, test::contains_text("5 AllGather u3"));
  CHECK_THAT(text, test::contains_text("all-gather of layer 3"));
}

TEST_CASE("what no instruction is called is bad input") {
  for (const char* text : {"6", "-1", "layer 7", ""}) {
    const auto result = find_instructions(plan_with_layers(), text);
    REQUIRE_FALSE(result);
    CHECK(where_text(result.error()) == "--explain");
  }
}

}  // namespace shardlab

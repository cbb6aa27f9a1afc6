#include <algorithm>

#include "tests/catch.h"
#include "tests/gui/ui.h"

namespace shardlab::gui {
namespace {

InstructionId first_of(Ui& ui, InstructionKind kind) {
  const auto& instructions = ui.session().prediction()->plan().instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    if (instructions[i].kind == kind) return make_id<InstructionId>(i);
  FAIL("no such instruction");
  return {};
}

}  // namespace

TEST_CASE("a clicked instruction is chosen for all panels, and explained with links") {
  Ui ui("plan", {900, 900});
  ui.open(large_scenario());
  ui.click("plan", "9");
  REQUIRE(ui.session().chosen() == InstructionId{9});
  const auto& waits = ui.session().prediction()->plan().instruction(InstructionId{9}).waits;
  REQUIRE_FALSE(waits.empty());
  ui.click("plan", ui.session().predicted_run()->words().instruction(waits.front()));
  CHECK(ui.session().chosen() == waits.front());
}

TEST_CASE("another step that is wanted elsewhere is shown, and its instruction explained") {
  Ui ui("plan", {900, 900});
  ui.open(large_scenario());
  const StepPlan& setup = ui.session().prediction()->planned.plan.setup;
  REQUIRE(ui.session().prediction()->plan().instructions.size() > setup.instructions.size());
  ui.session().selection().choose_step({PlanPhase::setup, InstructionId{0}});
  ui.frames(3);
  CHECK(ui.shows("plan", "0"));
  CHECK_FALSE(ui.shows("plan", std::to_string(setup.instructions.size())));
  CHECK_FALSE(ui.session().chosen());
  ui.session().selection().choose_step({});
  ui.session().choose(InstructionId{9});
  ui.frames(3);
  CHECK(ui.shows("plan", "9"));
}

TEST_CASE("an instruction chosen elsewhere is scrolled into sight") {
  Ui ui("plan", {900, 900});
  ui.open(large_scenario());
  CHECK_FALSE(ui.shows("plan", "600"));
  ui.session().choose(InstructionId{600});
  ui.frames(4);
  CHECK(ui.shows("plan", "600"));
}

TEST_CASE("search narrows the list to what has all words") {
  Ui ui("plan", {900, 900});
  ui.open(large_scenario());
  ui.click("plan", "##search plan");
  ui.type("allgather layers.31");
  const auto gathers = first_of(ui, InstructionKind::AllGather);
  CHECK_FALSE(ui.shows("plan", std::to_string(gathers.value)));  // of the first layer
  const auto& plan = ui.session().prediction()->plan();
  std::size_t shown = 0;
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (!ui.shows("plan", std::to_string(i))) continue;
    ++shown;
    CHECK(plan.instructions[i].kind == InstructionKind::AllGather);
  }
  CHECK(shown == 2);  // forward and backward
}

TEST_CASE("only what one pass put there, and the plan as it stood after a pass") {
  Ui ui("plan", {900, 900});
  ui.open(small_scenario());
  const auto& plan = ui.session().prediction()->plan();
  REQUIRE(plan.passes.size() > 1);
  ui.click("plan", "##pass");
  ui.click("", plan.passes.back() + "##by");
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    if (ui.shows("plan", std::to_string(i))) CHECK(plan.instructions[i].pass == plan.passes.size() - 1);
  }
  ui.click("plan", "##pass");
  ui.wait_for("", plan.passes.front() + "##after");
  CHECK(ui.shows("", plan.passes.front() + "##after"));
}

TEST_CASE("setup and first steps are listed too") {
  Ui ui("plan", {900, 900});
  ui.open(small_scenario());
  ui.click("plan", "##step");
  ui.click("", "setup");
  ui.click("plan", "0");
  CHECK_FALSE(ui.session().chosen());  // a choice in another plan is the panel's own
}

TEST_CASE("without a plan, and with a mistake, the panel says so") {
  Ui ui("plan", {900, 400});
  ui.frames(2);
  ui.session().open_text("train: {micro_batch: 0}\n");
  ui.settle();
  CHECK(ui.session().problem());
  CHECK_FALSE(ui.shows("plan", "0"));
}

}  // namespace shardlab::gui

#include "gui/view_model/why.h"

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/trace/metrics.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/gui_view_model/loaded_runs.h"

using namespace shardlab;
using namespace shardlab::test;
using namespace shardlab::view;

namespace {

const WhyPart* part_named(const Why& why, const std::string& label) {
  for (const WhyPart& part : why.parts) {
    if (part.label == label) return &part;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("every metric of a run that has a figure says where it comes from") {
  const LoadedRun run = loaded_run(3, RunKind::measured);
  for (const Metric& metric : summary_metrics(run.record.summary, run.record.summary, {})) {
    INFO(metric.name);
    const auto why = why_metric(run, metric.name);
    REQUIRE(why);
    CHECK_FALSE(why->formula.empty());
    CHECK_FALSE(why->settings.empty());
    CHECK_FALSE(why->value.empty());
    CHECK_THAT(to_text(*why), contains_text("r3 tiny fsdp2, measured"));
  }
  CHECK_FALSE(why_metric(run, "beauty"));
  LoadedRun without = run;
  without.record.summary.memory.reset();
  CHECK_FALSE(why_metric(without, "peak_allocated"));
}

TEST_CASE("a peak leads to its instruction and is made of its classes") {
  const auto why = why_metric(loaded_run(3, RunKind::measured), "peak_allocated");
  REQUIRE(why);
  REQUIRE(part_named(*why, "highest in"));
  CHECK(part_named(*why, "highest in")->instruction == InstructionId{2});
  CHECK(part_named(*why, "workspace")->value == "80 B");
}

TEST_CASE("a prediction says whether it was calibrated and what it leaves out") {
  LoadedRun run = loaded_run(3, RunKind::predicted);
  CHECK_THAT(to_text(*why_metric(run, "step_time")), contains_text("coefficients of calibration cal-1"));
  CHECK_THAT(to_text(*why_metric(run, "step_time")), contains_text("leaves out data loading"));
  run.record.trace.provenance.calibrated = false;
  CHECK_THAT(to_text(*why_metric(run, "step_time")), contains_text("not calibrated"));
}

TEST_CASE("an instruction's time names what it waited for longest") {
  const Why why = why_time(loaded_run(3, RunKind::measured), InstructionId{1});
  REQUIRE(part_named(why, "waited longest for"));
  CHECK(part_named(why, "waited longest for")->value == "all-gather of layer 0 (0 AllGather u0)");
  CHECK(part_named(why, "waited longest for")->instruction == InstructionId{0});
  LoadedRun empty = loaded_run(3, RunKind::measured);
  empty.record.trace.steps.clear();
  CHECK(why_time(empty, InstructionId{1}).value == "did not run");
}

TEST_CASE("an instruction knows its place in the model") {
  const StepPlan plan = hand_made_plan();
  CHECK(place_of(plan, InstructionId{0}) == "model.layers.0");
  CHECK(place_of(plan, InstructionId{1}) == "model.layers.0, operator 0");
  CHECK(place_of(plan, InstructionId{5}).empty());
}

TEST_CASE("the cost model explains every instruction of a plan in numbers") {
  const auto scenario = read_scenario((source_folder() / "scenarios/first/tiny-llama.yaml").string(), {});
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  for (std::size_t i = 0; i < planned->plan.steady.instructions.size(); ++i) {
    const auto why = why_cost(*planned, nullptr, make_id<InstructionId>(i));
    REQUIRE_OK(why);
    CHECK_FALSE(why->formula.empty());
  }
}

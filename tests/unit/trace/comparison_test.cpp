#include "engine/trace/comparison.h"

#include <algorithm>

#include "engine/trace/memory_timeline.h"
#include "engine/trace/metrics.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"

using namespace shardlab;
using namespace shardlab::test;

namespace {

struct Run {
  RunSummary summary;
  RunTrace trace;
  ComparedRun view() const { return {summary, trace}; }
};

Run run_of(RunKind kind, std::vector<StepTrace> steps, std::int64_t step_time_ns) {
  Run run;
  run.trace.provenance.kind = run.summary.kind = kind;
  run.trace.steps = std::move(steps);
  run.summary.plan_hash = plan_hash(hand_made_plan());
  run.summary.step_time = {{step_time_ns}, {step_time_ns}, {step_time_ns}, 1};
  run.summary.memory = summarize_memory(hand_made_plan(), run.trace.steps);
  return run;
}

const Metric& metric(const Comparison& comparison, std::string_view name) {
  const auto found = std::find_if(comparison.metrics.begin(), comparison.metrics.end(),
                                  [name](const Metric& candidate) { return candidate.name == name; });
  REQUIRE(found != comparison.metrics.end());
  return *found;
}

}  // namespace

TEST_CASE("a run agrees with itself") {
  const Run run = run_of(RunKind::predicted, {hand_made_step(0)}, 510);
  const auto comparison =
      compare(hand_made_plan(), run.view(), run.view(), {{"step_time", 0.0}, {"live_bytes", 0.0}});
  REQUIRE_OK(comparison);
  CHECK(comparison->verdict == Verdict::pass);
  CHECK(comparison->instructions.empty());
  REQUIRE(comparison->memory);
  CHECK(comparison->memory->equal == 7);
  CHECK(comparison->memory->borders == 7);
  CHECK(comparison->memory->largest == 0);
  CHECK(comparison->workspace->bytes == Bytes{0});
}

TEST_CASE("instructions join by id; the largest difference comes first") {
  const Run predicted = run_of(RunKind::predicted, {hand_made_step(0)}, 510);
  StepTrace slow = hand_made_step(3, 2);
  for (RankTrace& rank : slow.ranks) {
    rank.spans[1].end = {230};    // Forward 130 in place of 100
    rank.spans[3].start = {300};  // ReduceScatter 150 in place of 50
  }
  const Run measured = run_of(RunKind::measured, {slow}, 1000);
  const auto comparison = compare(hand_made_plan(), predicted.view(), measured.view(), {});
  REQUIRE_OK(comparison);
  REQUIRE(comparison->instructions.size() == 2);
  const InstructionDifference& first = comparison->instructions[0];
  CHECK(first.label == "3 ReduceScatter u0");
  CHECK(first.predicted == Nanoseconds{50});
  CHECK(first.measured == Nanoseconds{150});
  CHECK(first.difference() == Nanoseconds{-100});
  CHECK(first.share == Approx(0.15));  // 150 of 1000
  CHECK(comparison->instructions[1].instruction == InstructionId{1});
  CHECK(comparison->verdict == Verdict::not_judged);
}

TEST_CASE("only the ten largest differences are listed") {
  StepPlan plan = hand_made_plan();
  StepTrace first, second;
  first.ranks.resize(1);
  second.ranks.resize(1);
  plan.instructions.assign(30, hand_made_instruction(InstructionKind::Forward, 0, {}));
  for (std::uint32_t i = 0; i < 30; ++i) {
    first.ranks[0].spans.push_back(hand_made_span(i, 0, 0, 0, 100));
    second.ranks[0].spans.push_back(hand_made_span(i, 0, 0, 0, 100 + i));
  }
  Run a = run_of(RunKind::predicted, {}, 100), b = run_of(RunKind::measured, {}, 100);
  for (auto* run : {&a, &b}) run->summary.plan_hash = plan_hash(plan);
  first.plan_hash = second.plan_hash = plan_hash(plan);
  a.trace.steps = {first};
  b.trace.steps = {second};
  const auto comparison = compare(plan, a.view(), b.view(), {});
  REQUIRE_OK(comparison);
  REQUIRE(comparison->instructions.size() == 10);
  CHECK(comparison->instructions.front().instruction == InstructionId{29});
  CHECK(comparison->instructions.back().instruction == InstructionId{20});
}

TEST_CASE("error, tolerance and verdict of a metric") {
  const Run predicted = run_of(RunKind::predicted, {hand_made_step(0)}, 1100);
  const Run measured = run_of(RunKind::measured, {hand_made_step(0)}, 1000);
  const auto verdict_with = [&](double tolerance) {
    const auto comparison =
        compare(hand_made_plan(), predicted.view(), measured.view(), {{"step_time", tolerance}});
    REQUIRE_OK(comparison);
    CHECK(metric(*comparison, "step_time").error.value() == Approx(0.1));  // 1100 / 1000 - 1
    CHECK(metric(*comparison, "step_time").tolerance == tolerance);
    CHECK(comparison->verdict == metric(*comparison, "step_time").verdict);
    return comparison->verdict;
  };
  CHECK(verdict_with(0.11) == Verdict::pass);
  CHECK(verdict_with(0.09) == Verdict::fail);
}

TEST_CASE("a metric that was asked for and has no value fails") {
  Run predicted = run_of(RunKind::predicted, {hand_made_step(0)}, 510);
  Run measured = predicted;
  measured.trace.steps[0].ranks[0].memory.clear();
  measured.summary.memory.reset();
  const auto comparison = compare(hand_made_plan(), predicted.view(), measured.view(),
                                  {{"peak_allocated", 0.5}, {"live_bytes", 0.5}, {"mfu", 0.5}});
  REQUIRE_OK(comparison);
  for (const char* name : {"peak_allocated", "live_bytes", "mfu"})
    CHECK(metric(*comparison, name).verdict == Verdict::fail);
  CHECK_FALSE(comparison->memory.has_value());
}

TEST_CASE("memory is compared at every border of every measured rank and step") {
  const Run predicted = run_of(RunKind::predicted, {hand_made_step(0)}, 510);  // one representative rank
  std::vector<StepTrace> steps = {hand_made_step(3, 2), hand_made_step(4, 2)};
  steps[1].ranks[1].memory[3].live = {100};  // predicted 80: |80 / 100 - 1| = 0.2
  steps[0].ranks[0].memory[2].by_class_at_peak[static_cast<std::size_t>(BufferClass::workspace)] = {
      95};  // predicted 80
  const Run measured = run_of(RunKind::measured, steps, 510);
  const auto comparison =
      compare(hand_made_plan(), predicted.view(), measured.view(), {{"live_bytes", 0.001}});
  REQUIRE_OK(comparison);
  CHECK(comparison->memory->borders == 28);
  CHECK(comparison->memory->equal == 27);
  CHECK(comparison->memory->largest == Approx(0.2));
  CHECK(comparison->memory->label == "3 ReduceScatter u0");
  CHECK(comparison->workspace->bytes == Bytes{15});
  CHECK(comparison->workspace->label == "2 Backward s0 mb0");
  CHECK(metric(*comparison, "live_bytes").error.value() == Approx(-0.2));
  CHECK(comparison->verdict == Verdict::fail);
}

TEST_CASE("what cannot be compared is refused") {
  const Run run = run_of(RunKind::predicted, {hand_made_step(0)}, 510);
  Run other = run;
  std::string expected;
  std::map<std::string, double> tolerance;
  SECTION("runs of different plans") {
    other.summary.plan_hash = std::string(32, 'f');
    expected = "the runs follow different plans";
  }
  SECTION("a trace of another plan") {
    other.trace.steps[0].plan_hash = std::string(32, 'f');
    expected = "it was recorded with plan ffff";
  }
  SECTION("a run without steps") {
    other.trace.steps.clear();
    expected = "without measured steps";
  }
  SECTION("a tolerance for no metric") {
    tolerance = {{"steptime", 0.1}};
    expected = "no metric is called 'steptime' (did you mean 'step_time'?)";
  }
  SECTION("a tolerance that is no number") {
    tolerance = {{"step_time", -0.1}};
    expected = "negative";
  }
  const auto comparison = compare(hand_made_plan(), run.view(), other.view(), tolerance);
  REQUIRE_FALSE(comparison);
  CHECK(comparison.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(comparison.error()), contains_text(expected));
}

TEST_CASE("runs of different plans share the metrics of their summaries") {
  RunSummary first, second;
  first.plan_hash = "a";
  second.plan_hash = "b";
  first.kind = second.kind = RunKind::measured;
  first.communication = {{InstructionKind::AllGather, 2, 3, {300}},
                         {InstructionKind::AllGather, 4, 1, {100}}};
  second.communication = {{InstructionKind::AllGather, 2, 2, {200}}};
  const auto comparison = compare_summaries(first, second, {});
  REQUIRE_OK(comparison);
  CHECK(metric(*comparison, "communication.AllGather").error.value() ==
        Approx(1.0));  // (300 + 100) / 200 - 1
  CHECK(comparison->instructions.empty());
  CHECK(comparison->first_kind == RunKind::measured);
}

TEST_CASE("times of a run that something disturbed are not judged, bytes are") {
  const Run predicted = run_of(RunKind::predicted, {hand_made_step(0)}, 510);
  const Run measured = run_of(RunKind::measured, {hand_made_step(3)}, 1000);
  const auto disturbed = [&](const Tolerances& tolerances) {
    auto comparison = compare(hand_made_plan(), predicted.view(), measured.view(), tolerances);
    REQUIRE_OK(comparison);
    leave_times_unjudged(*comparison, "a storm");
    return *comparison;
  };
  const Comparison both = disturbed({{"step_time", 0.1}, {"mfu", 0.1}, {"peak_allocated", 0.1}});
  CHECK(metric(both, "step_time").verdict == Verdict::not_judged);
  CHECK(metric(both, "step_time").tolerance == 0.1);
  CHECK(metric(both, "mfu").verdict == Verdict::not_judged);
  CHECK(metric(both, "peak_allocated").verdict == Verdict::pass);
  CHECK(both.verdict == Verdict::not_judged);
  CHECK(both.times_not_judged == "a storm");
  // What fails for its bytes fails all the same.
  CHECK(disturbed({{"step_time", 0.1}, {"peak_reserved", 0.1}}).verdict == Verdict::fail);
  // Nobody asked about times.
  const Comparison memory = disturbed({{"peak_allocated", 0.1}, {"live_bytes", 0.1}});
  CHECK(memory.verdict == Verdict::pass);
  CHECK(memory.times_not_judged.empty());
}

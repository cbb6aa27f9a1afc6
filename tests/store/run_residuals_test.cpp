// Residuals over pairs of runs, added up by hand.
#include "engine/report/run_residuals.h"

#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/store/run_record.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

PlannedScenario planned_small() {
  const auto scenario = parse_scenario(
      "name: small\nmodel: {config: tiny-llama, sequence_length: 32}\ncluster: {device: cpu, ranks: 2}\n"
      "parallel: {strategy: fsdp2}\ntrain: {micro_batch: 2}\n",
      "small.yaml");
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  return *std::move(planned);
}

// A run of a plan in which every instruction takes so long, in one step of one rank.
RunRecord run_of(const PlannedScenario& planned, RunKind kind, std::int64_t each) {
  RunRecord run;
  run.name = "small";
  run.plan = planned.plan;
  run.trace.provenance.kind = run.summary.kind = kind;
  RankTrace rank;
  for (std::size_t i = 0; i < planned.plan.steady.instructions.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(i) * 1000;
    rank.spans.push_back({make_id<InstructionId>(i), {begin}, {begin}, {begin}, {begin + each}});
  }
  StepTrace step;
  step.ranks.push_back(rank);
  run.trace.steps.push_back(step);
  run.summary.step_time.median = {each * 100};
  return run;
}

const ResidualRow& row(const std::vector<ResidualRow>& rows, const std::string& name) {
  for (const ResidualRow& one : rows) {
    if (one.name == name) return one;
  }
  FAIL(name << " is missing");
  return rows.front();
}

void add(ResidualCollector& collector, const PlannedScenario& planned, std::int64_t id,
         const RunRecord& predicted, const RunRecord& measured) {
  collector.add("small", planned.plan.steady, {RunId{id}, predicted.summary, predicted.trace},
                {RunId{id + 1}, measured.summary, measured.trace});
}

TEST_CASE("residuals: sums, bias, the median of single errors and the part of the whole error") {
  const PlannedScenario planned = planned_small();
  std::int64_t forwards = 0, gathers = 0;
  for (const Instruction& instruction : planned.plan.steady.instructions) {
    forwards += instruction.kind == InstructionKind::Forward;
    gathers += instruction.kind == InstructionKind::AllGather;
  }
  ResidualCollector collector;
  RunRecord predicted = run_of(planned, RunKind::predicted, 100);
  RunRecord measured = run_of(planned, RunKind::measured, 200);
  predicted.summary.operators = {{"linear", false, 3, {30}}, {"silu", false, 1, {5}}};
  measured.summary.operators = {{"linear", false, 3, {20}}, {"add", false, 1, {7}}};
  add(collector, planned, 1, predicted, measured);
  add(collector, planned, 3, run_of(planned, RunKind::predicted, 300),
      run_of(planned, RunKind::measured, 200));
  const Residuals found = collector.residuals();
  REQUIRE(found.pairs.size() == 2);
  CHECK(found.pairs[1].measured == RunId{4});
  const ResidualRow& forward = row(found.kinds, "Forward");
  CHECK(forward.runs == 2);
  CHECK(forward.count == 2 * forwards);
  CHECK(forward.predicted == Nanoseconds{400 * forwards});
  CHECK(forward.measured == Nanoseconds{400 * forwards});
  CHECK(forward.bias() == 0);
  CHECK(forward.median == 0.5);  // half as long, and half as long again
  CHECK(row(found.kinds, "AllGather").count == 2 * gathers);
  for (const char* host_only : {"Free", "HostWait", "Alloc"}) {
    for (const ResidualRow& kind : found.kinds) CHECK(kind.name != host_only);
  }
  REQUIRE(found.operators.size() == 1);
  CHECK(found.operators[0].name == "linear");
  CHECK(found.operators[0].bias() == 0.5);
  CHECK(found.operators[0].share == 1);
}

TEST_CASE("residuals: layers are alike, and so are gathers of one size") {
  const PlannedScenario planned = planned_small();
  ResidualCollector collector;
  add(collector, planned, 1, run_of(planned, RunKind::predicted, 100),
      run_of(planned, RunKind::measured, 200));
  const Residuals found = collector.residuals();
  CHECK(row(found.parts, "Forward of a layer").count == planned.graph.layers);
  double shares = 0;
  for (const ResidualRow& part : found.parts) shares += part.share;
  CHECK(shares == Approx(1));
  const std::string text = residual_tables(found, 2, {.colour = false});
  CHECK_THAT(text, test::contains_text("smaller"));
  CHECK_THAT(text, test::contains_text("-50.0 %"));
}

}  // namespace
}  // namespace shardlab

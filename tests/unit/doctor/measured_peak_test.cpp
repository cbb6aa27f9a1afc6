// What a measured run shows beside its prediction.
#include <algorithm>

#include "engine/doctor/examine.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/registry.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

RunSummary with_peak(Bytes peak) {
  RunSummary run;
  run.memory.emplace();
  run.memory->peak_allocated = peak;
  return run;
}

// Only the rule that compares them: the others want a plan.
bool finds_more_than_predicted(Bytes predicted, Bytes measured) {
  const RunSummary expected = with_peak(predicted), found = with_peak(measured);
  const Scenario scenario{};
  const ScenarioSource source("r2");
  const Device device{};
  JobFacts job;
  job.scenario = &scenario;
  job.source = &source;
  job.device = &device;
  job.predicted = &expected;
  job.measured = &found;
  Case facts;
  facts.source = "r2";
  facts.job = &job;
  const Rule* rule = *find_rule("memory/above-prediction");
  const Examination examination = examine(facts, {*rule});
  return !examination.findings.empty();
}

TEST_CASE("a measured peak is worth a word from 10 % above the predicted one") {
  CHECK(finds_more_than_predicted(mebibytes(100), mebibytes(111)));
  CHECK_FALSE(finds_more_than_predicted(mebibytes(100), mebibytes(110)));
  CHECK_FALSE(finds_more_than_predicted(mebibytes(100), mebibytes(90)));
}

}  // namespace
}  // namespace shardlab

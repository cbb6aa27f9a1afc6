// Runs as the window makes and reads them: a simulated step of tiny-llama, and the same with spans of other
// lengths as a measured run of several steps. Their summaries belong to their traces.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "engine/plan/planned_scenario.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "gui/view_model/loaded_run.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"
#include "tests/paths.h"

namespace shardlab::test {

struct RealRuns {
  PlannedScenario planned;
  view::LoadedRunPtr predicted;
  view::LoadedRunPtr measured;
};

inline view::LoadedRunPtr loaded(std::int64_t id, const PlannedScenario& planned, RunTrace trace) {
  view::LoadedRun run;
  run.id = RunId{id};
  const auto limits = device_limits(planned);
  REQUIRE_OK(limits);
  auto summary = summarize(planned, trace, *limits);
  REQUIRE_OK(summary);
  run.record.name = planned.scenario.name;
  run.record.plan = planned.plan;
  run.record.trace = std::move(trace);
  run.record.summary = *std::move(summary);
  return std::make_shared<const view::LoadedRun>(std::move(run));
}

inline RealRuns real_runs(const std::string& file = "scenarios/first/tiny-llama.yaml") {
  RealRuns runs;
  const auto scenario = read_scenario((source_folder() / file).string(), {});
  REQUIRE_OK(scenario);
  auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  runs.planned = *std::move(planned);
  const auto device = resolve_device(*runs.planned.scenario.cluster);
  REQUIRE_OK(device);
  auto trace = simulate({runs.planned, *device});
  REQUIRE_OK(trace);
  RunTrace measured = *trace;
  measured.provenance.kind = RunKind::measured;
  measured.provenance.machine = "a machine";
  const StepTrace step = measured.steps.front();
  measured.steps.clear();
  for (const std::int64_t percent : {130, 90, 110, 150}) {
    measured.steps.push_back(stretched(step, percent));
    measured.steps.back().step += static_cast<std::int64_t>(measured.steps.size()) - 1;
  }
  runs.predicted = loaded(1, runs.planned, *std::move(trace));
  runs.measured = loaded(2, runs.planned, std::move(measured));
  return runs;
}

}  // namespace shardlab::test

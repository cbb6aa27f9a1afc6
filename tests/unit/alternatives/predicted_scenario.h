// A scenario that is planned and predicted, for tests of what settings would change.
#pragma once

#include "engine/hardware/device.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"

namespace shardlab::test {

struct PredictedScenario {
  PlannedScenario planned;
  Device device;
  RunTrace trace;
  RunSummary run;
};

// By published figures. What fails, fails the test.
inline PredictedScenario predicted_scenario(const Result<Scenario>& scenario) {
  REQUIRE_OK(scenario);
  const auto planned = plan_scenario(*scenario);
  REQUIRE_OK(planned);
  const auto device = resolve_device(*planned->scenario.cluster);
  REQUIRE_OK(device);
  const auto trace = simulate({*planned, *device});
  REQUIRE_OK(trace);
  const auto run = summarize(*planned, *trace, device_limits(*planned).value());
  REQUIRE_OK(run);
  return {*planned, *device, *trace, *run};
}

}  // namespace shardlab::test

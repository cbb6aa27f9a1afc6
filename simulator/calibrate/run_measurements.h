// Measurements that a real run of a small scenario gives: copies, optimizer, clipping, and the executor's own
// time.
#pragma once

#include <vector>

#include "engine/execute/probe.h"
#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// One measurement a kind and size of traffic; "host.instruction" and "host.collective", the host's time
// between instructions. Spans that overlapped a collective of their rank are left out: contention is measured
// on its own.
std::vector<ProbeMeasurement> measurements_of_run(const PlannedScenario& planned, const Device& device,
                                                  const RunTrace& run);

}  // namespace shardlab

// Whether a calibration of processors still holds, and whether a run's times say anything about the plan.
//
// A calibration is of a machine in a state: other programs, a changed clock rate or a noisy neighbour of a
// virtual machine change it. A few of its own probes, measured again by ranks as the run has them, show that.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/launch.h"
#include "engine/execute/processor_use.h"
#include "engine/scenario/scenario.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// Some of standard_probe_cases(): products, passes over memory, collectives; about a second.
std::vector<ProbeCase> check_cases();

// How many times as long the probes take as when the calibration was made: the geometric mean, over the
// probes that both have, of the ratios of their mean times. Means, since a median does not see the few
// repeats that another program interrupted. Absent when they have none in common.
std::optional<double> slowdown_of(const Calibration& calibration, std::span<const ProbeMeasurement> now);

// Within a fifth, up or down: as far as repeated probes of a quiet machine lie apart.
bool still_holds(double slowdown);

// What is known of the machine around and during a run; what is absent was not measured.
struct MachineState {
  std::optional<double> slowdown_before;  // slowdown_of() the calibration that the prediction used
  std::optional<double> slowdown_after;
  std::optional<ProcessorUse> use;  // during the run
  int needed = 0;                   // processors that the ranks' threads ask for
};

// Why the times of the run are no measurement of the plan, in words; empty when they are. They are not when
// others had more than a tenth of the processors that the ranks asked for, or when the calibration did not
// hold before or after.
std::string why_times_are_not_judged(const MachineState& state);

// Measures check_cases() on the ranks of the cluster: slowdown_of() what they took. Errors: run_failed when a
// rank fails, as launch_probes() says it.
Result<std::optional<double>> measure_slowdown(const Calibration& calibration, const ClusterSpec& cluster,
                                               const LaunchOptions& launch);

}  // namespace shardlab

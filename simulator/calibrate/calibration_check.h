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
#include "simulator/calibrate/probe_groups.h"

namespace shardlab {

// Some of standard_probe_cases(): products, passes over memory, collectives; about a second.
std::vector<ProbeCase> check_cases();

// How many times as long the probes of a group take as when the calibration was made: the geometric mean,
// over the probes that both have, of the ratios of their mean times. Means, since a median does not see the
// few repeats that another program interrupted.
struct GroupSlowdown {
  CheckedGroup group = CheckedGroup::products;
  double factor = 1;

  friend bool operator==(const GroupSlowdown&, const GroupSlowdown&) = default;
};

// By group, since collectives that are twice as fast and products that are twice as slow are no machine that
// stayed as it was. At least one.
using Slowdown = std::vector<GroupSlowdown>;

// Absent when they have no probes in common.
std::optional<Slowdown> slowdown_of(const Calibration& calibration, std::span<const ProbeMeasurement> now);

// The group that is furthest from where it was, up or down.
const GroupSlowdown& worst_of(const Slowdown& slowdown);

// Within a fifth, up or down: as far as repeated probes of a quiet machine lie apart.
bool still_holds(double factor);
bool still_holds(const Slowdown& slowdown);  // all of its groups

// "collectives take 2.1 times as long"
std::string slowdown_words(const GroupSlowdown& group);

// `before` without what was measured again since, and that instead. Probes that were not measured again stay.
std::vector<ProbeMeasurement> with_new(std::vector<ProbeMeasurement> before,
                                       std::vector<ProbeMeasurement> again);

// What is known of the machine around and during a run; what is absent was not measured.
struct MachineState {
  std::optional<Slowdown> slowdown_before;  // slowdown_of() the calibration that the prediction used
  std::optional<Slowdown> slowdown_after;
  std::optional<ProcessorUse> use;  // during the run
  int needed = 0;                   // processors that the ranks' threads ask for
};

// Why the times of the run are no measurement of the plan, in words; empty when they are. They are not when
// others had more than a tenth of the processors that the ranks asked for, or when the calibration did not
// hold before or after.
std::string why_times_are_not_judged(const MachineState& state);

// Measures check_cases() on the ranks of the cluster: slowdown_of() what they took. Errors: run_failed when a
// rank fails, as launch_probes() says it.
Result<std::optional<Slowdown>> measure_slowdown(const Calibration& calibration, const ClusterSpec& cluster,
                                                 const LaunchOptions& launch);

}  // namespace shardlab

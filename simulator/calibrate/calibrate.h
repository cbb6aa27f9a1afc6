// Measures this machine: micro-benchmarks on real ranks, and short real runs of small scenarios, fitted to
// coefficients.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/result.h"
#include "engine/execute/rank_team.h"
#include "engine/plan/planned_scenario.h"
#include "simulator/calibrate/calibration.h"
#include "simulator/calibrate/calibration_work.h"

namespace shardlab {

struct CalibrateOptions {
  std::string cluster;  // as in a scenario: "{gpu: H100-SXM, gpus_per_node: 8}"; all its ranks measure
                        // together. One node, unless a team is on them
  std::filesystem::path rank_program;         // shardlab-rank or shardlab-rank-cuda
  std::filesystem::path folder;               // for the ranks' files; the caller removes it
  const PlannedScenario* scenario = nullptr;  // its operators are measured too; may be null
  const CalibrationWork* work = nullptr;      // null: standard_work()
  RankTeam* team = nullptr;                   // the ranks (LaunchOptions); they may be on several nodes
  std::function<void(std::string)> progress;  // what is being measured now; may be empty
};

// So many nodes of a scenario's cluster, for CalibrateOptions; a cluster of processors as it is.
std::string cluster_text(const ClusterSpec& cluster, int nodes);

// bad_input for a text that is no cluster.
Result<DeviceKind> device_kind_of(const std::string& cluster);

// On processors a few probes are measured once more at the end (calibration_check.h); a group of probes that
// takes another time by then is calibrated once more.
//
// On processors about 30 s, under 60; on GPUs under 90. not_possible without libtorch or without such GPUs;
// bad_input when the machine's GPU is another one than `cluster` says; run_failed when a rank fails.
Result<Calibration> calibrate(const CalibrateOptions& options);

}  // namespace shardlab

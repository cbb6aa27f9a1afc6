// Measures this machine: micro-benchmarks on real ranks, and short real runs of small scenarios, fitted to
// coefficients.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct CalibrateOptions {
  int ranks = 2;  // processes that measure at the same time
  int threads_per_rank = 1;
  std::filesystem::path rank_program;         // shardlab-rank
  std::filesystem::path folder;               // for the ranks' files; the caller removes it
  const PlannedScenario* scenario = nullptr;  // its operators are measured too; may be null
  std::function<void(std::string)> progress;  // what is being measured now; may be empty
};

// About 30 s, under 60. not_possible without libtorch; run_failed when a rank fails.
Result<Calibration> calibrate(const CalibrateOptions& options);

}  // namespace shardlab

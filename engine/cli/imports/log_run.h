// The log of another program's training on its way into the database.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

struct LogRequest {
  std::vector<std::filesystem::path> files;  // of one training
  std::filesystem::path onto;                // the scenario that it is a training of; empty: nobody says
  std::vector<std::string> overrides;        // --set: of that scenario
};

struct LogRun {
  RunRecord record;
  std::vector<std::string> contradictions;  // what the log and the scenario say against each other, in words
};

// A measured run: with a scenario of its plan, so that it is judged by the scenario's prediction, unless the
// two contradict each other in ranks, samples or tokens. Errors of read_training_log(), read_scenario() and
// plan_scenario().
Result<LogRun> run_of_log(const LogRequest& request);

}  // namespace shardlab

// A predicted step explained: what it is made of from end to end, and what would shorten it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_time/path_rows.h"
#include "engine/report/explain_time/time_saving.h"
#include "engine/report/terminal.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

struct ExplainedTime {
  std::string scenario;
  int rank = 0;
  Nanoseconds step_time, exposed;
  double tokens_per_second = 0;
  std::array<Nanoseconds, k_words<PathPart>.size()> parts{};  // of the path, by PathPart
  std::vector<PathRow> rows;                                  // add up to the step
  std::vector<OperatorTime> operators;                        // the most time first
  Bytes peak;                                                 // as TimeSaving::peak
  std::optional<Fit> fits;
  std::vector<TimeSaving> savings;
};

// `run` and `trace` are the prediction of `planned`; the step is the last of the trace, a steady one. Pure.
ExplainedTime explain_time(const PlannedScenario& planned, const RunSummary& run, const RunTrace& trace,
                           std::vector<TimeSaving> savings);

std::string explained_time_text(const ExplainedTime& time, const TextStyle& style);
nlohmann::ordered_json explained_time_json(const ExplainedTime& time);

}  // namespace shardlab

// The list of stored runs: filter, table, and how the error of predictions went over time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/trace/run_entry.h"
#include "gui/view_model/data_table.h"

namespace shardlab::view {

struct RunListFilter {
  std::string text;  // words that all must occur in id, name, strategy, tags, note or plan hash; any case
  std::optional<RunKind> kind;  // absent: both
  std::string tag;              // empty: any
};

bool matches(const RunEntry& run, const RunListFilter& filter);

// Every tag in use, sorted.
std::vector<std::string> tags_of(const std::vector<RunEntry>& runs);

// A row a run that matches, in the order given; `key` of a row is the run's id.
DataTable run_table(const std::vector<RunEntry>& runs, const RunListFilter& filter);

// A measured run against the prediction of the same plan on the same machine that stood in the database
// before it: the newest calibrated one, else the newest. A run whose times are no measurement has no point.
struct TrendPoint {
  RunId measured;
  RunId predicted;
  std::string name;
  std::int64_t created = 0;  // of the measured one, seconds since 1970
  double step_time_error = 0;
  std::optional<double> peak_error;  // absent when either recorded no memory
  bool calibrated = false;           // the prediction
};

// From the oldest to the newest, of the runs that match.
std::vector<TrendPoint> error_trend(const std::vector<RunEntry>& runs, const RunListFilter& filter);

DataTable trend_table(const std::vector<TrendPoint>& trend);

}  // namespace shardlab::view

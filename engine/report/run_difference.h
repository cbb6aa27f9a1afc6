// Two alternatives side by side: runs of any two plans, neither of which is the truth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/report/terminal.h"
#include "engine/trace/comparison.h"

namespace shardlab {

// A figure of both; absent where a run has none or it is not known.
struct DifferenceRow {
  std::string name;
  MetricUnit unit = MetricUnit::nanoseconds;
  std::optional<double> first, second;
  std::string metric = {};  // its name, of a metric

  friend bool operator==(const DifferenceRow&, const DifferenceRow&) = default;
};

struct RunDifference {
  std::vector<DifferenceRow> totals;  // the metrics of both, without the peak by class
  std::vector<DifferenceRow> memory;  // at the peak, by class; where a run recorded none, absent
  std::vector<DifferenceRow> kinds;   // the medians of the instructions of a kind, added up
  std::vector<DifferenceRow> units;   // the same by part of the model, in words: names of units mean nothing
                                      // to another plan
};

struct AlternativeRun {
  const RunSummary& summary;
  const RunTrace& trace;
  const StepPlan& steady;
};

RunDifference difference_of(const AlternativeRun& first, const AlternativeRun& second);

// What the second is to the first: "+12.3 %", "3.4 x" or "1/3.4" from three times on, "new", "gone";
// "same" for equal ones and "-" where one is not known.
std::string difference_words(const DifferenceRow& row);

// The tables, one below the other. No row is good or bad.
std::string difference_table(const RunDifference& difference, const std::string& first,
                             const std::string& second, const TextStyle& style);

}  // namespace shardlab

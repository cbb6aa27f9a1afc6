// The figures of two runs side by side: the metrics of a Comparison.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/trace/comparison.h"

namespace shardlab {

using Tolerances = std::map<std::string, double>;

// Fills in error, tolerance and verdict.
Metric judged_metric(std::string name, MetricUnit unit, std::optional<double> predicted,
                     std::optional<double> measured, const Tolerances& tolerances);

// The metrics of two summaries, in the order of metric_names(). Classes and kinds that are zero in both are
// left out unless they have a tolerance.
std::vector<Metric> summary_metrics(const RunSummary& predicted, const RunSummary& measured,
                                    const Tolerances& tolerances);

// Fails with bad_input, naming the nearest known one, when a tolerance is for no metric.
Status check_tolerances(const Tolerances& tolerances);

// The verdict over all of them.
Verdict overall_verdict(const std::vector<Metric>& metrics);

}  // namespace shardlab

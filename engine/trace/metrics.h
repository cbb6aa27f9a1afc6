// The figures of two runs side by side: the metrics of a Comparison.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/comparison.h"

namespace shardlab {

// The worst border of MemoryDifference: the one metric that needs traces.
inline constexpr std::string_view k_live_bytes = "live_bytes";

using Tolerances = std::map<std::string, double>;

// Fills in error, tolerance and verdict.
Metric judged_metric(std::string name, MetricUnit unit, std::optional<double> predicted,
                     std::optional<double> measured, const Tolerances& tolerances);

// The metrics of two summaries, in the order of metric_names(), and behind them those of operators that both
// runs timed. A metric's row (run_figures.h) says whether it is listed; one with a tolerance always is.
std::vector<Metric> summary_metrics(const RunSummary& predicted, const RunSummary& measured,
                                    const Tolerances& tolerances);

// Fails with bad_input, naming the nearest known one, when a tolerance is for no metric.
Status check_tolerances(const Tolerances& tolerances);

// Takes the verdicts of times back, and of what is reckoned from them (rates, mfu): the run met with
// something that the prediction knows nothing of. `why` says what in words. Bytes are judged as before, and
// where no time has a tolerance nothing changes.
void leave_times_unjudged(Comparison& comparison, const std::string& why);

// Takes the tolerances of what the second run does not know away: a log does not tell every figure.
void leave_unknown_unjudged(Comparison& comparison);

// The verdict over all of them: fail when one fails; else not judged when one with a tolerance is not, or
// when none has one; else pass.
Verdict overall_verdict(const std::vector<Metric>& metrics);

}  // namespace shardlab

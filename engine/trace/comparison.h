// Comparison of two runs of the same plan: a join of their traces on (plan hash, instruction id).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/step_plan.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"
#include "engine/trace/summary_figure.h"

namespace shardlab {

enum class Verdict : std::uint8_t {
  pass,
  fail,
  not_judged,  // no tolerance was given, or the machine changed while the run was measured
};
template <>
inline constexpr auto k_words<Verdict> = std::to_array<Word<Verdict>>({{Verdict::pass, "pass"},
                                                                       {Verdict::fail, "fail"},
                                                                       {Verdict::not_judged, "not judged"}});

// One figure of both runs. error = predicted / measured - 1, absent when the measured one is absent or zero
// (0 when both are zero). With a tolerance the verdict is pass when |error| <= tolerance, and fail when there
// is no error to judge.
struct Metric {
  std::string name;  // one of metric_names()
  MetricUnit unit = MetricUnit::nanoseconds;
  std::optional<double> predicted;
  std::optional<double> measured;
  std::optional<double> error;
  std::optional<double> tolerance;
  Verdict verdict = Verdict::not_judged;

  friend bool operator==(const Metric&, const Metric&) = default;
};

// Durations (end - start) of one instruction: the median over steps and ranks.
struct InstructionDifference {
  InstructionId instruction;
  InstructionKind kind = InstructionKind::Marker;
  std::string label;
  Nanoseconds predicted;
  Nanoseconds measured;
  double share = 0;  // measured / median measured step time

  Nanoseconds difference() const { return predicted - measured; }
  friend bool operator==(const InstructionDifference&, const InstructionDifference&) = default;
};

// Live bytes after each instruction, every rank and step of the measured run against the same rank of the
// prediction (its representative rank where it has no such rank).
struct MemoryDifference {
  std::int64_t borders = 0;   // compared
  std::int64_t equal = 0;     // to the byte
  double largest = 0;         // |predicted / measured - 1|
  InstructionId instruction;  // where it is largest
  std::string label;
  Bytes predicted;  // there
  Bytes measured;

  friend bool operator==(const MemoryDifference&, const MemoryDifference&) = default;
};

// What the measured run had in class workspace beyond the prediction, at its highest: memory that libraries
// take for themselves.
struct UnpredictedWorkspace {
  Bytes bytes;
  InstructionId instruction;
  std::string label;

  friend bool operator==(const UnpredictedWorkspace&, const UnpredictedWorkspace&) = default;
};

struct Comparison {
  std::string plan_hash;
  RunKind first_kind = RunKind::predicted;  // what the columns `predicted` and `measured` hold: a diff may
                                            // compare any two runs
  RunKind second_kind = RunKind::measured;
  std::vector<Metric> metrics;
  std::vector<InstructionDifference> instructions;  // the ten with the largest |difference|, largest first
  std::optional<MemoryDifference> memory;           // absent unless both runs recorded memory
  std::optional<UnpredictedWorkspace> workspace;
  std::string times_not_judged;           // why, in words; empty: they are, where they have a tolerance
  Verdict verdict = Verdict::not_judged;  // over all metrics: overall_verdict()

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

// Every name a metric can have but those of operators, which is every name a tolerance may be given for:
// those of the figures that are metrics (run_figures.h: step_time, peak_allocated, ...; peak.CLASS for each
// class of buffer, communication.KIND for each kind of collective, in bytes of one rank in one step) and
// live_bytes, the worst border of MemoryDifference.
std::vector<std::string> metric_names();

struct ComparedRun {
  const RunSummary& summary;
  const RunTrace& trace;
};

// Compares two runs whose steps follow `steady`. `tolerance`: metric name -> fraction; a metric with a
// tolerance is always listed. Fails with bad_input when the plans differ or a tolerance names no metric.
Result<Comparison> compare(const StepPlan& steady, const ComparedRun& predicted, const ComparedRun& measured,
                           const std::map<std::string, double>& tolerance);

// The same for runs of different plans, which share no instructions: only the metrics that summaries hold.
Result<Comparison> compare_summaries(const RunSummary& first, const RunSummary& second,
                                     const std::map<std::string, double>& tolerance);

}  // namespace shardlab

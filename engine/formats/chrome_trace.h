// Steps of a run in the Trace Event Format that ui.perfetto.dev, chrome://tracing and speedscope read.
//
// Source: "Trace Event Format", Google, 2016; the JSON object form with complete events (X), counters (C),
// flows (s, f) and metadata (M). Times there are microseconds; three decimals keep every nanosecond.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/plan/step_plan.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// One step with its plan. Instructions of the trace index `plan.instructions`.
struct TracedStep {
  const StepPlan& plan;
  const StepTrace& trace;
  std::span<const std::string> words =
      {};  // by instruction, what it does: an argument of its event; or empty
};

// A run: a process per rank named "predicted rank 0", in it a track per stream, one for the host's issue, one
// per class of memory.
struct TracedRun {
  std::string_view title;  // "predicted", "measured"
  std::span<const TracedStep> steps;
};

// Steps follow one another on the time line; the runs start at the same instant, so that prediction and
// measurement lie one above the other. Deterministic: the same values give the same bytes.
std::string chrome_trace(std::span<const TracedRun> runs);

}  // namespace shardlab

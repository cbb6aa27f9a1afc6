// The figures of a run as a log tells them, and what it does not tell.
#pragma once

#include <string>
#include <string_view>

#include "engine/formats/logs/training_log.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// A measured run without a plan: its hash is empty, its ranks are 0 where nobody says how many.
RunSummary summary_of(const TrainingLog& log);

// Where the figures are from, and what is not known: figures that a log never has, and those that this one
// lacks. Sums up the rule by which first steps are left out.
Provenance provenance_of(const TrainingLog& log);

// What a scenario knows, among what a log may lack.
inline constexpr std::string_view k_lacks_tokens = "tokens, so no tokens per second";
inline constexpr std::string_view k_lacks_ranks = "how many ranks there were";

// What the program reckons itself and no figure holds, for the run's note; empty: nothing.
std::string remarks_of(const TrainingLog& log);

}  // namespace shardlab

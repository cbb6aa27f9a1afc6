// What a setting would bring, and what a training costs, in a line each.
#pragma once

#include <string>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/alternative.h"
#include "engine/trace/run_summary.h"

namespace shardlab::view {

// "40.2 GiB at the peak, 26,012 tokens/s; does not fit": by tokens, since a step of other settings may have
// more or fewer of them.
std::string alternative_words(const Alternative& alternative);

// "$24.0 an hour, $145 a billion tokens" for all its GPUs, by the middle of the price range; empty where no
// price is known.
std::string price_words(const PlannedScenario& planned, const RunSummary& run);

}  // namespace shardlab::view

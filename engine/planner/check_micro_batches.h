// Whether the plan of a step of so many micro-batches can be held.
#pragma once

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/strategies/step_strategies.h"

namespace shardlab {

// A plan lists every micro-batch. With so many instructions and buffers of a step, planning and predicting
// it, with other settings beside it, take up to 8 GiB.
inline constexpr std::int64_t k_most_parts_of_step = 1'000'000;

// bad_input at train.accumulation, with the most that works; found by planning two and three micro-batches,
// and only where there are very many. `planned` has its scenario, graph and partition. A single micro-batch
// is never refused.
Status check_micro_batches(const PlannedScenario& planned, const RunStrategies& strategies);

}  // namespace shardlab

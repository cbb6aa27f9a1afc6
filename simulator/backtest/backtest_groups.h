// What a published run is added up under.
#pragma once

#include <string>
#include <vector>

#include "engine/trace/backtest.h"
#include "simulator/backtest/published_table.h"

namespace shardlab {

// Its source, device, strategy, family, length of sequence and number of GPUs, and its kinds: how the figure
// was measured, whether the source says all that a scenario needs of a run that is only data-parallel
// ("complete"), and what rules call it ("compiled", "float8", "nearest"; "eager" where they do not say
// compiled).
std::vector<BacktestGroup> backtest_groups(const PublishedRun& run, const std::string& source,
                                           const std::string& figure_kind,
                                           const std::vector<std::string>& rule_kinds);

}  // namespace shardlab

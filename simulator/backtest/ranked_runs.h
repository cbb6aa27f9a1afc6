// Which published runs a ranking compares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/backtest/published_table.h"

namespace shardlab {

// Columns that are settings of a run beside its GPUs.
const std::vector<std::string>& setting_columns();

// Published tokens a second and GPU.
double published_rate(const PublishedRun& run);

// Whether two figures differ by 5 % of the smaller.
bool are_apart(double a, double b);

// Without parallelism inside a layer or between layers, adapters or doubts (ranking.h).
bool is_in_ranking_scope(const PublishedRun& run);

// Those of the scope of which enough is known, equal settings once. In the order of the table.
std::vector<const PublishedRun*> ranked_runs(const PublishedTable& table);

// Groups of runs that agree in these columns, in the order of their first; of two runs or more.
std::vector<std::vector<const PublishedRun*>> runs_together(const std::vector<const PublishedRun*>& runs,
                                                            const std::vector<std::string>& columns);

}  // namespace shardlab

// A published run as a scenario, by rules.
#pragma once

#include <string>
#include <vector>

#include "engine/trace/backtest.h"
#include "simulator/backtest/published_table.h"
#include "simulator/backtest/source_rules.h"

namespace shardlab {

struct RowScenario {
  std::string yaml;    // empty where the row cannot be expressed
  std::string reason;  // why it cannot; empty where it can
  std::vector<std::string> nearest;
  std::vector<std::string> rules;  // that applied, by name
  std::vector<std::string> kinds;
  std::string series;
};

// Rules that match are applied in their order; a later one replaces what an earlier one set.
//
// The first rule that refuses gives the reason; else the first setting whose cell is empty.
RowScenario scenario_of_row(const PublishedRun& run, const std::vector<SourceRule>& rules,
                            BacktestMetric metric);

}  // namespace shardlab

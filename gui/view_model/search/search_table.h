// The results of a search as a table, and a result as a scenario.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "gui/view_model/data_table.h"
#include "gui/view_model/search/search_points.h"

namespace shardlab::view {

// A row for each that passes; its key is the place in result.simulated.
DataTable search_table(const SearchOutcome& outcome, const std::vector<std::uint32_t>& passing);

struct FoundScenario {
  std::string text;
  std::filesystem::path file;  // a new name beside the scenario that was searched around: relative paths hold
};
// Errors: bad_input where the scenario does not allow the settings.
Result<FoundScenario> scenario_of(const SearchOutcome& outcome, std::size_t simulated);

// "124 of 896 combinations, 80 simulated".
std::string progress_text(const SearchProgress& progress);
// "best for time: 8.7 hours, $6,856, 64 GPUs", a line each.
std::vector<std::string> answer_lines(const SearchOutcome& outcome);

}  // namespace shardlab::view

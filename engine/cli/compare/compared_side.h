// One side of `diff`: a stored run, or a scenario file that is predicted for the occasion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cli/command_options.h"
#include "engine/report/setting_differences.h"
#include "engine/store/run_record.h"

namespace shardlab {

struct ComparedSide {
  std::optional<RunId> id;  // absent for a scenario file: its prediction is not stored
  RunRecord run;            // its tags and its note may be empty
};

// `reference`: what RunStore::find() takes, or a file: what ends in .yaml or .yml or has a slash. `overrides`
// are for a file; with a stored run they are bad_input.
Result<ComparedSide> compared_side(const std::string& reference, const CommonOptions& options,
                                   const std::vector<std::string>& overrides);

// The prediction of the scenario that a stored run has. Errors of parse_scenario(), plan_scenario() and
// predict().
Result<ComparedSide> prediction_beside(const RunRecord& run, const CommonOptions& options);

// "r2", or the name of the scenario.
std::string short_name(const ComparedSide& side);

// Its scenario, for setting_differences().
inline ScenarioText scenario_text(const ComparedSide& side) {
  return {side.run.scenario_yaml, side.run.name};
}

}  // namespace shardlab

// The scenario as the doctor sees it: what is wrong with its prediction, or why there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/doctor/examine.h"
#include "gui/session/prediction.h"

namespace shardlab::gui {

// What a text gave: a prediction, or the error that kept it from one.
struct ScenarioToExamine {
  std::uint64_t revision = 0;
  std::string file_name;
  std::shared_ptr<const Prediction> prediction;
  std::optional<Error> error;
};

struct ExaminedScenario {
  std::uint64_t revision = 0;
  std::shared_ptr<const Prediction> prediction;  // that findings are about; null for mistakes
  Examination examination;
  std::optional<Error> failure;  // then nothing was examined: no mistake of the scenario, or a defect
};

// Takes a prediction for every setting that is tried; `is_wanted` is asked before each of them, and after it
// says no what is returned is of no use.
ExaminedScenario examine_scenario(const ScenarioToExamine& scenario, const std::function<bool()>& is_wanted);

}  // namespace shardlab::gui

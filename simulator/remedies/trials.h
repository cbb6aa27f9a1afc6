// Predictions of a scenario with settings changed, each made once.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/doctor/finding.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

using Settings = std::vector<std::string>;  // key=value, as for --set

class Trials {
 public:
  // `before` is the prediction of `planned`, `calibration` what it was made with. All three must live as long
  // as this. At most `most` predictions are made; after them, and once `is_wanted` (where there is one) says
  // no, nothing is allowed any more.
  Trials(const PlannedScenario& planned, const RunSummary& before, const Calibration* calibration,
         std::size_t most = k_most, std::function<bool()> is_wanted = {});

  const PlannedScenario& planned() const { return planned_; }
  const RunSummary& before() const { return before_; }
  // Null where the rest of the scenario does not allow the settings, and where they change nothing.
  const RunSummary* with(const Settings& settings);
  std::size_t predictions() const { return predictions_; }
  // What the machine could not do while something was tried: then nothing that follows from it is to be told.
  const std::optional<Error>& trouble() const { return trouble_; }

  static constexpr std::size_t k_most = 200;

 private:
  const PlannedScenario& planned_;
  const RunSummary& before_;
  const Calibration* calibration_;
  std::size_t most_, predictions_ = 0;
  std::function<bool()> is_wanted_;
  std::map<Settings, std::optional<RunSummary>> made_;
  std::optional<Error> trouble_;
};

Cost cost_of(const RunSummary& run);

}  // namespace shardlab

// One configuration from its settings to its figures, as `shardlab simulate` would have them of the scenario
// with these settings.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "simulator/calibrate/choose_calibration.h"
#include "simulator/search/full_prediction.h"
#include "simulator/search/outcome.h"
#include "simulator/search/question/search_question.h"
#include "simulator/search/repeated_micro_batches.h"
#include "simulator/search/result_file.h"

namespace shardlab {

// Threads may share one.
class Evaluator {
 public:
  // `base` and `kept` must outlive it. `calibration_for` may be empty.
  Evaluator(const BaseScenario& base, CalibrationFor calibration_for, ResultFile& kept);

  // Errors: bad_input where the scenario does not allow the settings.
  Result<Scenario> scenario_with(const std::vector<std::string>& settings) const;

  // What is kept is not simulated again. Errors: run_failed where a result cannot be kept; whatever is wrong
  // with the configuration itself is its outcome.
  Result<Outcome> evaluate(const std::vector<std::string>& settings);

  // Everything that is predicted; neither looked up nor kept. Errors: what is wrong with the configuration.
  Result<FullPrediction> predict(const std::vector<std::string>& settings);

  Result<std::optional<Calibration>> calibration_of(const Scenario& scenario);

  // How many were simulated, not looked up.
  std::int64_t simulations() const { return simulations_; }

 private:
  // Looked for by one thread, while others that need it wait. None: long steps have to be simulated.
  struct Repetition {
    std::once_flag looked_for;
    std::optional<RepeatedMicroBatches> found;
  };

  Result<FullPrediction> predict(const Scenario& scenario);
  Result<PredictedFigures> figures(const Scenario& scenario);
  std::optional<PredictedFigures> figures_of_many(const Scenario& scenario);
  Repetition& repetition_of(const std::string& key);
  Result<std::string> key_of(const Scenario& scenario);

  const BaseScenario& base_;
  const Result<YamlNode> tree_;  // of its text, with its overrides
  CalibrationFor calibration_for_;
  ResultFile& kept_;
  Result<std::string> program_;  // what results depend on besides the scenario and its calibration
  std::mutex mutex_;
  std::map<std::string, std::optional<Calibration>> calibrations_;  // by cluster
  std::map<std::string, Repetition> repetitions_;                   // by all but the number of micro-batches
  std::atomic<std::int64_t> simulations_ = 0;
};

// The first thing that is wrong, without its place in a text.
std::string reason_text(const Error& error);

}  // namespace shardlab

// Exports of a scenario with what their differences cost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/formats/tools/export_target.h"
#include "engine/trace/fit.h"
#include "simulator/calibrate/choose_calibration.h"

namespace shardlab {

struct PredictedStep {
  Nanoseconds step_time;
  Bytes peak_allocated;
  std::optional<Fit> fits = {};  // absent where nobody knows the memory of a rank
  std::string fit_reason = {};   // empty where it fits
};

// "does not fit: the steps take ..."; empty where it fits, or nobody knows.
std::string fit_words(const PredictedStep& step);

struct MadeExport {
  const ExportTarget* target = nullptr;
  TargetRefusal refusal;  // where it cannot run the scenario; then the rest is empty
  std::vector<ExportDifference> differences;
  std::vector<ExportedFile> files;
  // Predictions of the scenario with each difference alone, in the order of `differences`; nothing for those
  // elsewhere and those of which there is no prediction.
  std::vector<std::optional<PredictedStep>> alone;
  std::optional<PredictedStep> scenario;  // as it is
  std::optional<PredictedStep> run;       // of the files: with all differences that can be predicted
  std::vector<std::string> unpredicted;   // settings that are left out of `run`
  std::string unpredictable;              // why the scenario itself has no prediction, where one was wanted
};

enum class WithPrediction : std::uint8_t { no, yes };

// One for each target. The scenario is planned once; where it cannot be predicted there are no predictions.
// Errors: what the machine could not do while one was made (is_of_the_machine).
Result<std::vector<MadeExport>> make_exports(const std::vector<const ExportTarget*>& targets,
                                             const ExportSubject& subject, WithPrediction prediction,
                                             const CalibrationFor& calibration_for);

// Into a folder that is made where it is missing. bad_input for a file that exists, unless `replace`.
Status write_exports(const std::vector<MadeExport>& exports, const std::filesystem::path& folder,
                     bool replace);

}  // namespace shardlab

#include "simulator/exports/made_export.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "engine/base/output_file.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/figures.h"
#include "engine/scenario/validate.h"
#include "simulator/alternatives/predict_with.h"

namespace shardlab {
namespace {

struct Baseline {
  PlannedScenario planned;
  std::optional<Calibration> calibration;
  std::optional<PredictedStep> step;  // of the scenario as it is

  const Calibration* calibrated() const { return calibration ? &*calibration : nullptr; }
};

// None where the settings are refused.
Result<std::optional<PredictedStep>> step_with(const Baseline& base, std::span<const std::string> settings) {
  const auto with = predict_with(base.planned, settings, base.calibrated());
  if (!with && is_of_the_machine(with.error())) return fail(with.error());
  if (!with || !with->run.memory) return std::optional<PredictedStep>();
  const RunSummary& run = with->run;
  return std::optional(
      PredictedStep{run.step_time.median, run.memory->peak_allocated, run.fits, run.fit_reason.value_or("")});
}

Result<Baseline> baseline_of(const ExportSubject& subject, const CalibrationFor& calibration_for) {
  SHARDLAB_CHECK_OK(check_supported(subject.scenario, subject.source));
  SHARDLAB_TRY(PlannedScenario planned, plan_scenario(subject.scenario));
  SHARDLAB_TRY(std::optional<Calibration> calibration, calibration_for(planned.scenario));
  Baseline base{std::move(planned), std::move(calibration), {}};
  SHARDLAB_TRY(base.step, step_with(base, {}));
  return base;
}

// Settings may need each other, so that those that cannot be predicted are found one after the other.
Status predict_differences(MadeExport& made, const Baseline& base) {
  made.scenario = made.run = base.step;
  std::vector<std::string> together;
  for (const ExportDifference& difference : made.differences) {
    made.alone.emplace_back();
    for (const std::string& setting : overrides_of({&difference, 1})) {
      SHARDLAB_TRY(made.alone.back(), step_with(base, {&setting, 1}));
      together.push_back(setting);
      SHARDLAB_TRY(const std::optional<PredictedStep> step, step_with(base, together));
      if (step) {
        made.run = step;
      } else {
        together.pop_back();
        made.unpredicted.push_back(difference.setting);
      }
    }
  }
  return {};
}

std::string step_words(const PredictedStep& step) {
  const std::string fit = fit_words(step);
  return fmt::format("step {}, peak allocated {}{}{}", to_string(step.step_time),
                     to_string(step.peak_allocated), fit.empty() ? "" : "; ", fit);
}

// The head of a file: what it is made of and what of that it does not say.
std::vector<std::string> head_lines(const MadeExport& made, const ExportSubject& subject) {
  std::vector<std::string> lines{
      fmt::format("{}, for {}. Written by shardlab from {}.", subject.stem, words_of(*made.target),
                  std::filesystem::path(subject.source.file()).filename().string())};
  if (made.scenario) lines.push_back("Predicted of the scenario: " + step_words(*made.scenario));
  if (made.run && !overrides_of(made.differences).empty())
    lines.push_back("Predicted of this file:    " + step_words(*made.run));
  for (const ExportDifference& difference : made.differences) {
    if (difference.kind == DifferenceKind::elsewhere) {
      lines.push_back(fmt::format("In the program, {}: {}", difference.setting, difference.instead));
    } else {
      lines.push_back(fmt::format("{}: {} is {} here: {}", to_string(difference.kind), difference.setting,
                                  difference.instead, difference.why));
    }
  }
  return lines;
}

Status write_file(const std::filesystem::path& file, const ExportedFile& exported) {
  return write_output_file(file, exported.text, exported.executable ? FileMode::executable : FileMode::plain);
}

}  // namespace

std::string fit_words(const PredictedStep& step) {
  if (!step.fits || *step.fits == Fit::yes) return {};
  const std::string_view words = *step.fits == Fit::no ? "does not fit" : "fits only just";
  return fmt::format("{}{}{}", words, step.fit_reason.empty() ? "" : ": ", step.fit_reason);
}

Result<std::vector<MadeExport>> make_exports(const std::vector<const ExportTarget*>& targets,
                                             const ExportSubject& subject, WithPrediction prediction,
                                             const CalibrationFor& calibration_for) {
  std::optional<Result<Baseline>> base;
  std::vector<MadeExport> exports;
  for (const ExportTarget* const target : targets) {
    MadeExport& made = exports.emplace_back();
    made.target = target;
    made.refusal = target->refuses(subject);
    if (!made.refusal.why.empty()) continue;
    made.differences = export_differences(*target, subject);
    if (prediction == WithPrediction::yes) {
      if (!base) base.emplace(baseline_of(subject, calibration_for));
      if (*base)
        SHARDLAB_CHECK_OK(predict_differences(made, **base));
      else if (is_of_the_machine(base->error()))
        return fail(base->error());
      else
        made.unpredictable = base->error().what;
    }
    made.files = target->write(subject, head_lines(made, subject));
  }
  return exports;
}

Status write_exports(const std::vector<MadeExport>& exports, const std::filesystem::path& folder,
                     bool replace) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return bad_input(in_file(folder.string()), "cannot be made: " + error.message());
  for (const MadeExport& made : exports) {
    for (const ExportedFile& file : made.files) {
      if (!replace && std::filesystem::exists(folder / file.name, error))
        return bad_input(in_file((folder / file.name).string()), "exists already",
                         "--force replaces it, -o names another folder");
    }
  }
  for (const MadeExport& made : exports) {
    for (const ExportedFile& file : made.files) SHARDLAB_CHECK_OK(write_file(folder / file.name, file));
  }
  return {};
}

}  // namespace shardlab

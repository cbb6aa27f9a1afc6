#include "simulator/search/evaluate.h"

#include <filesystem>

#include <fmt/format.h>

#include "engine/base/folder.h"
#include "engine/base/hash.h"
#include "engine/base/input_file.h"
#include "engine/base/paths.h"
#include "engine/base/version.h"
#include "engine/scenario/distillation_spec.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/resolve_path.h"
#include "engine/scenario/train_spec.h"
#include "engine/scenario/validate.h"
#include "simulator/search/question/default_knobs.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// Folders of assets whose files predictions read whatever the scenario says: figures of GPUs and nodes,
// NCCL's choices, errors of earlier predictions.
constexpr const char* k_figures[] = {"hardware", "network", "residuals"};

// This very program and the figures that it reads: a build or a figure that changed starts anew.
Result<std::string> program_text() {
  std::string text(program_version());
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  text += fmt::format(" {} {}", fs::file_size(program, error),
                      fs::last_write_time(program, error).time_since_epoch().count());
  for (const char* const name : k_figures) {
    SHARDLAB_TRY(const fs::path folder, find_asset(name));
    SHARDLAB_TRY(const std::vector<fs::path> files, files_below(folder));
    for (const fs::path& file : files) {
      SHARDLAB_TRY(const std::string content, read_input_file(file, k_table_file));
      text += fmt::format("\n{} ", content.size()) + content;
    }
  }
  return text;
}

// The files that a prediction reads for a model.
Result<std::string> files_of(const Scenario& scenario, const ModelSpec& model) {
  SHARDLAB_TRY(const fs::path config, resolve_model_config(scenario, model));
  SHARDLAB_TRY(std::string text, read_input_file(config, k_model_config_file));
  if (model.moe.measured.empty()) return text;
  SHARDLAB_TRY(const fs::path measured, resolve_path(scenario, model.moe.measured));
  SHARDLAB_TRY(const std::string load, read_input_file(measured, k_expert_load_file));
  return text + load;
}

// What the machine could not do now is refused by no setting, and nothing to be kept.
Result<Outcome> refusal(const Error& error) {
  if (is_of_the_machine(error)) return fail(error);
  return Outcome{reason_text(error), {}};
}

}  // namespace

std::string reason_text(const Error& error) {
  const Error& first = error.parts.empty() ? error : error.parts.front();
  return first.place.name.empty() ? first.what : first.place.name + ": " + first.what;
}

Evaluator::Evaluator(const BaseScenario& base, CalibrationFor calibration_for, ResultFile& kept)
    : base_(base),
      tree_(base_tree(base)),
      calibration_for_(std::move(calibration_for)),
      kept_(kept),
      program_(program_text().map([](const std::string& text) { return hash_hex(text); })) {}

Result<Scenario> Evaluator::scenario_with(const std::vector<std::string>& settings) const {
  if (!tree_) return fail(tree_.error());
  YamlNode root = *tree_;
  for (const std::string& setting : settings) SHARDLAB_CHECK_OK(apply_override(root, setting));
  SHARDLAB_TRY(ReadScenario read, read_scenario_tree(root, base_.file));
  SHARDLAB_CHECK_OK(check_supported(read.scenario, read.source));
  return std::move(read.scenario);
}

Result<std::optional<Calibration>> Evaluator::calibration_of(const Scenario& scenario) {
  if (!calibration_for_) return std::optional<Calibration>();
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  const std::string cluster =
      fmt::format("{} {} {} {}", device.name, device.ranks, device.nodes, device.threads);
  const std::scoped_lock lock(mutex_);
  if (const auto found = calibrations_.find(cluster); found != calibrations_.end()) return found->second;
  SHARDLAB_TRY(std::optional<Calibration> calibration, calibration_for_(scenario));
  return calibrations_.emplace(cluster, std::move(calibration)).first->second;
}

Result<std::string> Evaluator::key_of(const Scenario& scenario) {
  if (!program_) return fail(program_.error());
  SHARDLAB_TRY(const std::optional<Calibration> calibration, calibration_of(scenario));
  SHARDLAB_TRY(std::string text, files_of(scenario, *scenario.model));
  if (scenario.distillation) {
    SHARDLAB_TRY(const std::string teacher, files_of(scenario, *scenario.distillation->teacher.model));
    text += teacher;
  }
  text +=
      *program_ + (calibration ? calibration->id : "") + scenario.directory + "\n" + write_scenario(scenario);
  return hash_hex(text);
}

Result<FullPrediction> Evaluator::predict(const Scenario& scenario) {
  SHARDLAB_TRY(std::optional<Calibration> calibration, calibration_of(scenario));
  return predict_fully(scenario, std::move(calibration));
}

std::optional<PredictedFigures> Evaluator::figures_of_many(const Scenario& scenario) {
  if (micro_batches_of_step(scenario) < RepeatedMicroBatches::k_worthwhile) return std::nullopt;
  Scenario few = scenario;
  few.train->accumulation = RepeatedMicroBatches::k_counts.back();
  Repetition& repetition = repetition_of(write_scenario(few));
  std::call_once(repetition.looked_for, [&] {
    const auto found =
        RepeatedMicroBatches::find(scenario, [this](const Scenario& each) { return predict(each); });
    if (found) repetition.found = *found;
  });
  return repetition.found ? repetition.found->figures(scenario) : std::nullopt;
}

Evaluator::Repetition& Evaluator::repetition_of(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  return repetitions_[key];
}

Result<PredictedFigures> Evaluator::figures(const Scenario& scenario) {
  if (auto known = figures_of_many(scenario)) return *std::move(known);
  SHARDLAB_TRY(FullPrediction full, predict(scenario));
  return std::move(full.figures);
}

Result<FullPrediction> Evaluator::predict(const std::vector<std::string>& settings) {
  SHARDLAB_TRY(const Scenario scenario, scenario_with(settings));
  return predict(scenario);
}

Result<Outcome> Evaluator::evaluate(const std::vector<std::string>& settings) {
  const Result<Scenario> scenario = scenario_with(settings);
  if (!scenario) return refusal(scenario.error());
  const Result<std::string> key = key_of(*scenario);
  if (!key) return refusal(key.error());
  if (auto kept = kept_.find(*key)) return *std::move(kept);
  const Result<PredictedFigures> predicted = figures(*scenario);
  ++simulations_;
  Result<Outcome> outcome = predicted ? Result<Outcome>(Outcome{{}, *predicted}) : refusal(predicted.error());
  if (!outcome) return outcome;
  SHARDLAB_CHECK_OK(kept_.add(*key, *outcome));
  return outcome;
}

}  // namespace shardlab

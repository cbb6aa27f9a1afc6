#include "simulator/alternatives/alternatives.h"

#include <utility>

#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

Result<Alternative> alternative_of(const PlannedScenario& planned, const SettingToTry& tried,
                                   const Calibration* calibration) {
  SHARDLAB_TRY(const PredictedWith predicted, predict_with(planned, tried.setting, calibration));
  const RunSummary& run = predicted.run;
  return Alternative{
      tried.setting,        tried.effect,          run.memory ? run.memory->peak_allocated : Bytes{},
      run.step_time.median, run.tokens_per_second, run.fits};
}

}  // namespace

Result<std::vector<Alternative>> predict_alternatives(const PlannedScenario& planned, const RunSummary& run,
                                                      const Calibration* calibration,
                                                      const std::function<bool()>& is_wanted) {
  const auto goes_on = [&] { return !is_wanted || is_wanted(); };
  std::vector<Alternative> found;
  for (const SettingToTry& tried : settings_that_could_halve(planned, run)) {
    if (!goes_on()) return found;
    auto alternative = alternative_of(planned, tried, calibration);
    if (!alternative && is_of_the_machine(alternative.error())) return fail(alternative.error());
    if (alternative && is_half(alternative->peak_allocated, run.memory->peak_allocated))
      found.push_back(*std::move(alternative));
  }
  for (const SettingToTry& tried : other_implementation(planned)) {
    if (!goes_on()) return found;
    auto alternative = alternative_of(planned, tried, calibration);
    if (!alternative && is_of_the_machine(alternative.error())) return fail(alternative.error());
    if (alternative) found.push_back(*std::move(alternative));
  }
  return found;
}

}  // namespace shardlab

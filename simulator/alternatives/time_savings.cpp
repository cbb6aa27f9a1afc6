#include "simulator/alternatives/time_savings.h"

#include <algorithm>
#include <utility>

#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_that_could_hasten.h"

namespace shardlab {
namespace {

// Below this a gain is the noise of rounding, and nobody's reason to change a setting.
constexpr double k_least_gain = 0.0005;

TimeSaving saving_of(const SettingsToTry& tried, const RunSummary& with) {
  TimeSaving saving;
  saving.settings = tried.settings;
  saving.effect = tried.effect;
  saving.step_time = with.step_time.median;
  saving.exposed = with.exposed_communication;
  saving.tokens_per_second = with.tokens_per_second;
  if (with.memory) saving.peak = with.memory->peak_device.value_or(with.memory->peak_allocated);
  saving.fits = with.fits;
  return saving;
}

}  // namespace

Result<std::vector<TimeSaving>> predict_time_savings(const PlannedScenario& planned, const RunSummary& run,
                                                     const Calibration* calibration,
                                                     const std::function<bool()>& is_wanted) {
  std::vector<TimeSaving> savings;
  for (const SettingsToTry& tried : settings_that_could_hasten(planned)) {
    if (is_wanted && !is_wanted()) break;
    const auto changed = predict_with(planned, tried.settings, calibration);
    if (!changed && is_of_the_machine(changed.error())) return fail(changed.error());
    if (!changed || changed->run.tokens_per_second <= run.tokens_per_second * (1 + k_least_gain)) continue;
    savings.push_back(saving_of(tried, changed->run));
  }
  std::stable_sort(savings.begin(), savings.end(), [](const TimeSaving& a, const TimeSaving& b) {
    return a.tokens_per_second > b.tokens_per_second;
  });
  return savings;
}

}  // namespace shardlab

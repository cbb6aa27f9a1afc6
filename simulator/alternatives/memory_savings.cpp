#include "simulator/alternatives/memory_savings.h"

#include <algorithm>
#include <utility>

#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

Bytes gain_of(const MemorySummary& before, const MemorySummary& after) {
  if (before.peak_device && after.peak_device) return *before.peak_device - *after.peak_device;
  return before.peak_allocated - after.peak_allocated;
}

MemorySaving saving_of(const SettingToTry& tried, const MemorySummary& before, const RunSummary& run) {
  const MemorySummary& after = *run.memory;
  MemorySaving saving{.setting = tried.setting,
                      .effect = tried.effect,
                      .peak_allocated = after.peak_allocated,
                      .peak_device = after.peak_device,
                      .gain = gain_of(before, after),
                      .step_time = run.step_time.median,
                      .tokens_per_second = run.tokens_per_second,
                      .fits = run.fits,
                      .frees = {}};
  for (const BufferClass each : tried.frees) {
    const auto i = static_cast<std::size_t>(each);
    if (after.by_class[i] < before.by_class[i]) saving.frees.push_back(each);
  }
  return saving;
}

}  // namespace

std::vector<MemorySaving> predict_savings(const PlannedScenario& planned, const RunSummary& run,
                                          const Calibration* calibration,
                                          const std::function<bool()>& is_wanted) {
  std::vector<MemorySaving> savings;
  for (const SettingToTry& tried : settings_that_could_save(planned, run)) {
    if (is_wanted && !is_wanted()) break;
    const auto changed = predict_with(planned, tried.setting, calibration);
    if (!changed || !changed->memory) continue;
    MemorySaving saving = saving_of(tried, *run.memory, *changed);
    if (saving.gain > Bytes{}) savings.push_back(std::move(saving));
  }
  std::stable_sort(savings.begin(), savings.end(),
                   [](const MemorySaving& a, const MemorySaving& b) { return a.gain > b.gain; });
  return savings;
}

}  // namespace shardlab

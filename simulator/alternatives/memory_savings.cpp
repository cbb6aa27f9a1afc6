#include "simulator/alternatives/memory_savings.h"

#include <algorithm>
#include <utility>

#include "engine/report/words/alive_at_peak.h"
#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_to_try.h"

namespace shardlab {
namespace {

Bytes gain_of(const MemorySummary& before, const MemorySummary& after) {
  if (before.peak_device && after.peak_device) return *before.peak_device - *after.peak_device;
  return before.peak_allocated - after.peak_allocated;
}

// Rows of the classes that the setting is about and that are smaller with it, or gone.
std::vector<std::string> shrunk(const std::vector<AliveRow>& before, const std::vector<AliveRow>& after,
                                const std::vector<BufferClass>& classes) {
  std::vector<std::string> rows;
  for (const AliveRow& row : before) {
    if (std::find(classes.begin(), classes.end(), row.buffer_class) == classes.end()) continue;
    const auto same = std::find_if(after.begin(), after.end(), [&](const AliveRow& each) {
      return each.what == row.what && each.buffer_class == row.buffer_class;
    });
    if (same == after.end() || same->bytes < row.bytes) rows.push_back(row.what);
  }
  return rows;
}

MemorySaving saving_of(const SettingToTry& tried, const MemorySummary& before,
                       const std::vector<AliveRow>& rows, const PredictedWith& with) {
  const MemorySummary& after = *with.run.memory;
  return {.setting = tried.setting,
          .effect = tried.effect,
          .peak_allocated = after.peak_allocated,
          .peak_device = after.peak_device,
          .gain = gain_of(before, after),
          .step_time = with.run.step_time.median,
          .tokens_per_second = with.run.tokens_per_second,
          .fits = with.run.fits,
          .shrinks = shrunk(rows, alive_at_peak(with.planned.plan.steady, after), tried.frees),
          .comparison = tried.touches == Touches::operators};
}

}  // namespace

Result<std::vector<MemorySaving>> predict_savings(const PlannedScenario& planned, const RunSummary& run,
                                                  const Calibration* calibration,
                                                  const std::function<bool()>& is_wanted) {
  std::vector<MemorySaving> savings;
  if (!run.memory) return savings;
  const std::vector<AliveRow> rows = alive_at_peak(planned.plan.steady, *run.memory);
  for (const SettingToTry& tried : settings_that_could_save(planned, run)) {
    if (is_wanted && !is_wanted()) break;
    const auto changed = predict_with(planned, tried.setting, calibration);
    if (!changed && is_of_the_machine(changed.error())) return fail(changed.error());
    if (!changed || !changed->run.memory) continue;
    MemorySaving saving = saving_of(tried, *run.memory, rows, *changed);
    if (saving.gain > Bytes{}) savings.push_back(std::move(saving));
  }
  std::stable_sort(savings.begin(), savings.end(), [](const MemorySaving& a, const MemorySaving& b) {
    return std::pair(a.comparison, b.gain) < std::pair(b.comparison, a.gain);
  });
  return savings;
}

}  // namespace shardlab

#include "simulator/alternatives/time_savings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "simulator/alternatives/predict_with.h"
#include "simulator/alternatives/settings_that_could_hasten.h"

namespace shardlab {
namespace {

// Below this a gain is the noise of rounding, and nobody's reason to change a setting.
constexpr double k_least_gain = 0.0005;

std::string signed_size(Bytes bytes) {
  return fmt::format("{}{}", bytes.value < 0 ? "-" : "+", to_string(Bytes{std::abs(bytes.value)}));
}

// Why the device holds more with other operators, in words; empty where it does not. Fewer bytes of tensors
// may be in blocks of sizes that leave more of what is reserved unused.
std::string why_more(const MemorySummary& before, const MemorySummary& after) {
  if (!before.peak_device || !after.peak_device || *after.peak_device <= *before.peak_device) return {};
  const auto gaps = [](const MemorySummary& memory) {
    return memory.peak_reserved.value_or(memory.peak_allocated) - memory.peak_allocated;
  };
  const Bytes tensors = after.peak_allocated - before.peak_allocated, more = gaps(after) - gaps(before);
  const std::string of_tensors = "tensors " + signed_size(tensors);
  if (more <= Bytes{}) return "; more memory: " + of_tensors;
  return fmt::format("; more memory: gaps between blocks {}, {}", signed_size(more), of_tensors);
}

TimeSaving saving_of(const SettingsToTry& tried, const RunSummary& before, const RunSummary& with) {
  TimeSaving saving;
  saving.settings = tried.settings;
  saving.effect = tried.effect;
  saving.comparison = tried.comparison;
  if (tried.comparison && before.memory && with.memory)
    saving.effect += why_more(*before.memory, *with.memory);
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
    savings.push_back(saving_of(tried, run, changed->run));
  }
  std::stable_sort(savings.begin(), savings.end(), [](const TimeSaving& a, const TimeSaving& b) {
    return std::pair(a.comparison, b.tokens_per_second) < std::pair(b.comparison, a.tokens_per_second);
  });
  return savings;
}

}  // namespace shardlab

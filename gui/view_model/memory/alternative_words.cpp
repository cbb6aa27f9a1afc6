#include "gui/view_model/memory/alternative_words.h"

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab::view {
std::string alternative_words(const Alternative& alternative) {
  const char* const fits = alternative.fits == Fit::no       ? "; does not fit"
                           : alternative.fits == Fit::unsure ? "; unsure"
                                                             : "";
  return fmt::format("{} at the peak, {} tokens/s{}", to_string(alternative.peak_allocated),
                     rate(alternative.tokens_per_second), fits);
}

std::string price_words(const PlannedScenario& planned, const RunSummary& run) {
  const auto device = resolve_device(planned.scenario);
  if (!device || !device->dollars_per_hour) return {};
  const double hour = *device->dollars_per_hour * device->ranks;
  std::string words = fmt::format("${:.2f} an hour", hour);
  if (run.tokens_per_second > 0)
    words += fmt::format(", ${} a billion tokens", rate(hour / 3600 * 1e9 / run.tokens_per_second));
  return words;
}

}  // namespace shardlab::view

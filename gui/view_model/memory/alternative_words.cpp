#include "gui/view_model/memory/alternative_words.h"

#include <fmt/format.h>

#include "engine/base/parse.h"
#include "engine/report/figures.h"
#include "engine/report/summarize.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/resolve_device.h"
#include "engine/scenario/train_spec.h"

namespace shardlab::view {
namespace {

// What the scenario says for the keys of which a step's tokens are a multiple; nothing for others.
std::optional<std::int64_t> factor_of_tokens(const std::string& key, const Scenario& scenario) {
  if (key == "model.sequence_length") return scenario.model->sequence_length;
  if (key == "train.micro_batch") return scenario.train->micro_batch;
  if (key == "train.accumulation") return scenario.train->accumulation;
  return std::nullopt;
}

double tokens_of_step(const std::string& setting, const PlannedScenario& planned) {
  const auto tokens = static_cast<double>(tokens_per_step(planned));
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return tokens;
  const auto before = factor_of_tokens(setting.substr(0, equals), planned.scenario);
  const auto after = parse_integer(setting.substr(equals + 1));
  if (!before || *before <= 0 || !after) return tokens;
  return tokens * static_cast<double>(*after) / static_cast<double>(*before);
}

}  // namespace

std::string alternative_words(const Alternative& alternative, const PlannedScenario& planned) {
  const double seconds = static_cast<double>(alternative.step_time.value) * 1e-9;
  const std::string speed =
      seconds > 0 ? rate(tokens_of_step(alternative.setting, planned) / seconds) + " tokens/s" : "no step";
  const char* const fits = alternative.fits == Fit::no       ? "; does not fit"
                           : alternative.fits == Fit::unsure ? "; unsure"
                                                             : "";
  return fmt::format("{} at the peak, {}{}", to_string(alternative.peak_allocated), speed, fits);
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

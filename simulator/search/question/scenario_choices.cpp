#include "simulator/search/question/scenario_choices.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

// The scenario with the settings, as reading it says; nothing where it is refused.
std::optional<Scenario> with_settings(const BaseScenario& base, const std::vector<std::string>& settings,
                                      const std::vector<std::string>& extra) {
  std::vector<std::string> overrides = base.overrides;
  overrides.insert(overrides.end(), settings.begin(), settings.end());
  overrides.insert(overrides.end(), extra.begin(), extra.end());
  auto read = parse_scenario(base.text, base.file, overrides);
  return read ? std::optional(*std::move(read)) : std::nullopt;
}

}  // namespace

Knob knob_of_choices(std::string key, const BaseScenario& base, std::string own, std::vector<Choice> choices,
                     const std::vector<std::string>& extra) {
  Knob knob{std::move(key), {{{}, std::move(own), true}}};
  std::vector<Scenario> seen = {with_settings(base, {}, extra).value_or(base.scenario)};
  for (Choice& choice : choices) {
    const std::optional<Scenario> scenario = with_settings(base, choice.settings, extra);
    if (!scenario) continue;
    const auto same = std::find(seen.begin(), seen.end(), *scenario);
    if (same == seen.begin()) knob.choices.front().shown = choice.shown;
    if (same != seen.end()) continue;
    seen.push_back(*scenario);
    knob.choices.push_back(std::move(choice));
  }
  return knob;
}

}  // namespace shardlab

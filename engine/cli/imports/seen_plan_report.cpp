#include "engine/cli/imports/seen_plan_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/report/text_table.h"

namespace shardlab {

std::string seen_plan_text(const std::optional<SeenPlan>& plan, const std::string& file,
                           const TextStyle& style) {
  if (!plan) return "";
  TextTable table({{"", Align::left}, {"", Align::left}, {"", Align::left, true}}, "  ");
  for (const SeenSetting& each : plan->settings)
    table.add({fmt::format("{}: {}", each.key, each.value),
               {std::string(to_string(each.sure)), each.sure == Sureness::guessed ? Tone::fair : Tone::plain},
               each.why});
  return fmt::format("\nwhat the trace shows: {}\n", plan->words) + table.text(style) +
         fmt::format("  `shardlab import {} --onto S` puts it onto the scenario S of its model\n", file);
}

nlohmann::ordered_json seen_plan_json(const std::optional<SeenPlan>& plan) {
  if (!plan) return nullptr;
  nlohmann::ordered_json settings = nlohmann::ordered_json::array();
  for (const SeenSetting& each : plan->settings)
    settings.push_back(
        {{"key", each.key}, {"value", each.value}, {"sure", to_string(each.sure)}, {"why", each.why}});
  return {{"words", plan->words}, {"settings", std::move(settings)}};
}

}  // namespace shardlab

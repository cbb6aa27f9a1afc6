// The JSON of `plan --explain N`.
#include "engine/cli/explain_instruction.h"

#include <nlohmann/json.hpp>
#include "engine/plan/group_ranks.h"
#include "engine/report/explain/explanation.h"

namespace shardlab {
namespace {

Json settings_json(const std::vector<SettingView>& settings) {
  Json list = Json::array();
  for (const SettingView& setting : settings) {
    list.push_back({{"key", setting.key},
                    {"value", setting.value},
                    {"given", setting.given},
                    {"where", setting.given ? Json(setting.where) : Json()}});
  }
  return list;
}

}  // namespace

Json explanation_json(const ExplainedInstruction& explained) {
  const StepPlan& step = explained.step;
  const Instruction& self = step.instruction(explained.id);
  const Explanation explanation = explain(explained.planned, explained.source, step, explained.id);
  const auto number = [](const std::optional<InstructionId>& id) { return id ? Json(id->value) : Json(); };
  const auto numbers = [](const std::vector<InstructionId>& ids) {
    Json list = Json::array();
    for (const InstructionId id : ids) list.push_back(id.value);
    return list;
  };
  Json wait_reasons = Json::array();
  for (const ExplainedWait& wait : explanation.waits)
    wait_reasons.push_back({{"id", wait.instruction.value}, {"why", wait.why}});
  const Json ranks =
      self.group
          ? Json(ranks_of_group(step.groups[self.group->index()], explained.planned.scenario, explained.rank))
          : Json();
  return {{"instruction", explained.id.value},
          {"label", instruction_label(step, explained.id)},
          {"purpose", explanation.purpose},
          {"reason", explanation.reason},
          {"decided_by", settings_json(explanation.decided_by)},
          {"group", ranks},
          {"previous_on_stream", number(explanation.previous_on_stream)},
          {"previous_in_group", number(explanation.previous_in_group)},
          {"waits", numbers(self.waits)},
          {"wait_reasons", std::move(wait_reasons)},
          {"awaited_by", numbers(explanation.awaited_by)},
          {"read_by", numbers(explanation.read_by)},
          {"live_bytes_after", live_bytes_after(step)[explained.id.index()].value},
          {"pass", explanation.pass}};
}

}  // namespace shardlab

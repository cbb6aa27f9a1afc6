#include "engine/cli/explain_instruction.h"

#include <cmath>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "engine/plan/group_ranks.h"
#include "engine/report/explain/explanation.h"
#include "engine/report/words/plan_words.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/cost/cost_model.h"

namespace shardlab {

namespace {

// Lines "name  content", the name only on the first.
class Lines {
 public:
  explicit Lines(const StepPlan& step) : step_(step) {}

  void add(std::string_view name, std::string_view content) {
    fmt::format_to(std::back_inserter(text_), "{:<12} {}\n", name, content);
  }
  // Sentences, broken between words.
  void add_text(std::string_view name, const std::string& sentences) {
    constexpr std::size_t k_width = 100;
    std::istringstream words(sentences);
    std::string line;
    for (std::string word; words >> word;) {
      if (!line.empty() && line.size() + 1 + word.size() > k_width) {
        add(std::exchange(name, ""), std::exchange(line, ""));
      }
      line += (line.empty() ? "" : " ") + word;
    }
    if (!line.empty()) add(name, line);
  }
  void add_buffers(std::string_view name, const std::vector<BufferId>& ids) {
    for (const BufferId id : ids) {
      const Buffer& buffer = step_.buffer(id);
      add(std::exchange(name, ""),
          fmt::format("{:<24} {:<20} {:<9} {}", buffer.name, to_string(buffer.buffer_class),
                      to_string(buffer.dtype), to_string(buffer.bytes())));
    }
  }
  void add_instruction(std::string_view name, InstructionId id, std::string_view why) {
    add(name,
        fmt::format("{} (on {}){}{}", instruction_label(step_, id),
                    step_.streams[step_.instruction(id).stream.index()].name, why.empty() ? "" : ": ", why));
  }
  void add_instructions(std::string_view name, const std::vector<InstructionId>& ids) {
    for (const InstructionId id : ids) add_instruction(std::exchange(name, ""), id, {});
  }
  std::string take() { return std::move(text_); }

 private:
  const StepPlan& step_;
  std::string text_;
};

std::string memory_line(const StepPlan& step, InstructionId id) {
  const std::vector<Bytes> live = live_bytes_after(step);
  const Bytes before = id.index() == 0 ? carried_bytes(step) : live[id.index() - 1];
  const Bytes change = live[id.index()] - before;
  return fmt::format("{} of the plan's buffers live after it ({}{})", to_string(live[id.index()]),
                     change.value < 0 ? "" : "+", to_string(change));
}

std::string setting_line(const SettingView& setting) {
  const std::string value = setting.value.empty() ? "(empty)" : setting.value;
  return fmt::format("{}: {} ({})", setting.key, value, setting.given ? setting.where : "default");
}

// Who put it there and who decided it.
void add_origin(const Explanation& explanation, Lines& lines) {
  if (!explanation.reason.empty()) lines.add_text("why", explanation.reason);
  std::string_view name = "decided by";
  for (const SettingView& setting : explanation.decided_by)
    lines.add(std::exchange(name, ""), setting_line(setting));
  lines.add("put there by",
            explanation.pass + (explanation.pass_does.empty() ? "" : ": " + explanation.pass_does));
}

// What it stands beside: stream, unit, group, sizes, buffers.
void add_facts(const ExplainedInstruction& explained, Lines& lines) {
  const StepPlan& step = explained.step;
  const Instruction& self = step.instruction(explained.id);
  lines.add("stream", step.streams[self.stream.index()].name);
  if (self.unit) {
    const PlanUnit& unit = step.units[self.unit->index()];
    lines.add("unit", fmt::format("{} = {}", unit.name,
                                  unit.module_path.empty() ? "the model" : "module " + unit.module_path));
  }
  if (self.group) {
    const Group& group = step.groups[self.group->index()];
    lines.add("group",
              fmt::format("{}: ranks {}", to_text(group.ranks),
                          fmt::join(ranks_of_group(group, explained.planned.scenario, explained.rank), " ")));
  }
  if (self.reduce != ReduceOperation::none) lines.add("result", to_string(self.reduce));
  if (self.bytes.value > 0)
    lines.add("bytes", to_string(self.bytes) + (is_collective(self.kind) ? " (full side)" : ""));
  lines.add_buffers("reads", self.reads);
  lines.add_buffers("writes", self.writes);
  lines.add_buffers("allocates", self.allocates);
  lines.add_buffers("frees", self.frees);
}

void add_order(const Explanation& explanation, Lines& lines) {
  if (explanation.previous_on_stream) {
    lines.add_instruction("after", *explanation.previous_on_stream, "a stream runs in the order of issue");
  }
  if (explanation.previous_in_group) {
    lines.add_instruction(explanation.previous_on_stream ? "" : "after", *explanation.previous_in_group,
                          "collectives of one group run one after the other");
  }
  std::string_view name = "waits for";
  for (const ExplainedWait& wait : explanation.waits)
    lines.add_instruction(std::exchange(name, ""), wait.instruction, wait.why);
  lines.add_instructions("awaited by", explanation.awaited_by);
  lines.add_instructions("read by", explanation.read_by);
}

// Why it is predicted to take as long as it does, by the shipped figures: a calibration of this machine is
// not asked.
Result<CostBreakdown> cost_of(const ExplainedInstruction& explained) {
  SHARDLAB_TRY(const Device device, resolve_device(*explained.planned.scenario.cluster));
  CostModel model(explained.planned, device, nullptr);
  return model.explain(explained.step, explained.step.instruction(explained.id));
}

void add_cost(const CostBreakdown& cost, bool communicates, Lines& lines) {
  const auto add = [&](std::string_view name, const CostBreakdown& part) {
    lines.add_text(name, part.term + (part.formula.empty() ? "" : ": " + part.formula));
  };
  lines.add("takes",
            fmt::format("{} by the shipped figures", to_string(Nanoseconds{std::llround(cost.nanoseconds)})));
  for (const CostBreakdown& part : cost.parts) {
    add("", part);
    if (!communicates) continue;
    for (const CostBreakdown& wire : part.parts) add("", wire);
  }
}

}  // namespace

std::string explain_instruction(const ExplainedInstruction& explained) {
  const StepPlan& step = explained.step;
  const Explanation explanation = explain(explained.planned, explained.source, step, explained.id);
  Lines lines(step);
  lines.add("instruction",
            fmt::format("{}   ({} of {} in the {} plan)", instruction_label(step, explained.id),
                        explained.id.value + 1, step.instructions.size(), to_string(step.phase)));
  lines.add("", PlanWords(step).instruction(explained.id));
  lines.add("", explanation.purpose);
  add_origin(explanation, lines);
  add_facts(explained, lines);
  add_order(explanation, lines);
  const Instruction& self = step.instruction(explained.id);
  if (const auto cost = cost_of(explained); cost && !is_host_only(self.kind))
    add_cost(*cost, is_collective(self.kind), lines);
  lines.add("memory", memory_line(step, explained.id));
  return lines.take();
}

// The JSON of `plan --explain N`.

namespace {

Json cost_json(const CostBreakdown& cost) {
  Json parts = Json::array();
  for (const CostBreakdown& part : cost.parts) parts.push_back(cost_json(part));
  return {{"nanoseconds", std::llround(cost.nanoseconds)},
          {"term", cost.term},
          {"formula", cost.formula},
          {"parts", std::move(parts)}};
}

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
  const auto cost = cost_of(explained);
  return {{"instruction", explained.id.value},
          {"label", instruction_label(step, explained.id)},
          {"words", PlanWords(step).instruction(explained.id)},
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
          {"cost", cost ? cost_json(*cost) : Json()},
          {"live_bytes_after", live_bytes_after(step)[explained.id.index()].value},
          {"pass", explanation.pass}};
}

}  // namespace shardlab

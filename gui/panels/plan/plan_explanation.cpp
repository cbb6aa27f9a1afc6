#include "gui/panels/plan/plan_explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/plan/group_ranks.h"

namespace shardlab::gui {
namespace {

void name_cell(const char* name) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%s", name);
  ImGui::TableNextColumn();
}

void fact(const char* name, const std::string& text) {
  if (text.empty()) return;
  name_cell(name);
  ImGui::TextWrapped("%s", text.c_str());
}

// A link with the plan's name and the reason behind it; true when clicked.
bool instruction_link(const StepPlan& plan, const PlanWords& words, InstructionId id,
                      const std::string& why) {
  ImGui::PushID(static_cast<int>(id.value));
  const bool clicked = ImGui::TextLink(words.instruction(id).c_str());
  ImGui::PopID();
  const std::string name = instruction_label(plan, id);
  ImGui::SameLine();
  ImGui::TextDisabled("%s%s%s", name.c_str(), why.empty() ? "" : "; ", why.c_str());
  return clicked;
}

std::string unit_text(const PlanUnit& unit) {
  return unit.name + (unit.module_path.empty() ? " (the model)" : " = " + unit.module_path);
}

}  // namespace

void PlanExplanation::refresh(const std::shared_ptr<const Prediction>& prediction, const StepPlan& plan,
                              InstructionId id) {
  if (prediction == shown_ && plan_ == &plan && id_ == id) return;
  if (prediction != shown_ || plan_ != &plan) words_.emplace(plan);
  shown_ = prediction;
  plan_ = &plan;
  id_ = id;
  explanation_ = explain(prediction->planned, prediction->source, plan, id);
}

void PlanExplanation::draw_buffers(const char* label, const StepPlan& plan,
                                   const std::vector<BufferId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = plan.buffer(ids[i]);
    name_cell(i == 0 ? label : "");
    ImGui::TextUnformatted(to_words(words_->buffer(ids[i])).c_str());
    ImGui::SameLine();
    ImGui::TextDisabled("%s, %s, %s", buffer.name.c_str(), std::string(to_string(buffer.dtype)).c_str(),
                        to_string(buffer.bytes()).c_str());
  }
}

void PlanExplanation::draw_facts(const StepPlan& plan, const Theme&) {
  const Instruction& self = plan.instruction(id_);
  fact("why", explanation_.reason);
  bool first = true;
  for (const SettingView& setting : explanation_.decided_by) {
    fact(std::exchange(first, false) ? "decided by" : "",
         fmt::format("{}: {} ({})", setting.key, setting.value.empty() ? "(empty)" : setting.value,
                     setting.given ? setting.where : "default"));
  }
  fact("put there by",
       explanation_.pass + (explanation_.pass_does.empty() ? "" : ": " + explanation_.pass_does));
  fact("stream", plan.streams[self.stream.index()].name);
  if (self.unit) fact("unit", unit_text(plan.units[self.unit->index()]));
  if (self.group) {
    const Group& group = plan.groups[self.group->index()];
    fact("group", fmt::format("{}: ranks {}", to_text(group.ranks),
                              fmt::join(ranks_of_group(group, shown_->planned.scenario, 0), " ")));
  }
  if (self.bytes.value > 0)
    fact("bytes", to_string(self.bytes) + (is_collective(self.kind) ? " (full side)" : ""));
  draw_buffers("reads", plan, self.reads);
  draw_buffers("writes", plan, self.writes);
  draw_buffers("frees", plan, self.frees);
}

std::optional<InstructionId> PlanExplanation::draw_order(const StepPlan& plan) {
  std::optional<InstructionId> chosen;
  const auto line = [&](const char* name, InstructionId id, const std::string& why) {
    name_cell(name);
    ImGui::PushID(name);
    if (instruction_link(plan, *words_, id, why)) chosen = id;
    ImGui::PopID();
  };
  if (explanation_.previous_on_stream) line("after", *explanation_.previous_on_stream, "on the same stream");
  if (explanation_.previous_in_group) line("after", *explanation_.previous_in_group, "in the same group");
  for (const ExplainedWait& wait : explanation_.waits) line("waits for", wait.instruction, wait.why);
  for (const InstructionId id : explanation_.awaited_by) line("awaited by", id, {});
  for (const InstructionId id : explanation_.read_by) line("read by", id, {});
  return chosen;
}

void PlanExplanation::draw_heading(const StepPlan& plan, const Theme& theme) const {
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(words_->instruction(id_).c_str());
  ImGui::PopFont();
  ImGui::SameLine();
  ImGui::TextDisabled("%s", instruction_label(plan, id_).c_str());
}

std::optional<InstructionId> PlanExplanation::draw(const std::shared_ptr<const Prediction>& prediction,
                                                   const StepPlan& plan, InstructionId id,
                                                   const Theme& theme) {
  refresh(prediction, plan, id);
  draw_heading(plan, theme);
  ImGui::TextWrapped("%s", explanation_.purpose.c_str());
  std::optional<InstructionId> chosen;
  if (ImGui::BeginTable("facts", 2, ImGuiTableFlags_SizingFixedFit)) {
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, theme.scaled(88));
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    draw_facts(plan, theme);
    chosen = draw_order(plan);
    ImGui::EndTable();
  }
  return chosen;
}

}  // namespace shardlab::gui

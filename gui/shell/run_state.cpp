#include "gui/shell/run_state.h"

#include <algorithm>

namespace shardlab::gui {

void empty_state(const char* text, const char* hint, const Theme& theme) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = std::min(room.x, theme.scaled(420));
  ImGui::SetCursorPos(
      {ImGui::GetCursorPosX() + (room.x - width) / 2, ImGui::GetCursorPosY() + std::max(room.y / 3, 0.0F)});
  ImGui::BeginGroup();
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + width);
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(text);
  ImGui::PopFont();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  ImGui::TextUnformatted(hint);
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::EndGroup();
}

void no_prediction_state(const Session& session, const char* text, const char* hint, const Theme& theme) {
  if (session.problem()) {
    empty_state("No prediction", "The scenario has a mistake: the panel Scenario says which.", theme);
  } else {
    empty_state(text, hint, theme);
  }
}

void failure_state(const std::string& what, const Theme& theme) {
  empty_state("This cannot be shown", what.c_str(), theme);
}

bool database_trouble(Session& session, const Theme& theme) {
  const auto& trouble = session.runs().view().trouble;
  if (!trouble) return false;
  ImGui::PushTextWrapPos(0);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.fair);
  ImGui::TextUnformatted(what_text(*trouble).c_str());
  ImGui::PopStyleColor();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  ImGui::TextUnformatted(where_text(*trouble).c_str());
  if (!trouble->hint.empty()) ImGui::TextUnformatted(trouble->hint.c_str());
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  ImGui::Separator();
  return true;
}

std::optional<InstructionId> chosen_in(const Session& session, const view::LoadedRun& run) {
  const auto id = session.selection().in_plan(run.record.summary.plan_hash);
  if (!id || id->index() >= run.plan().instructions.size()) return std::nullopt;
  return id;
}

void choose_in(Session& session, const view::LoadedRun& run, InstructionId id) {
  session.selection().choose(SelectedInstruction{run.record.summary.plan_hash, id});
}

bool is_stale(Session& session, const view::LoadedRunPtr& run) {
  return session.stale() && run == session.predicted_run();
}

}  // namespace shardlab::gui

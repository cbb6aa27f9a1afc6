#include "gui/panels/scenario/scenario_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gui/panels/scenario/yaml_language.h"

namespace shardlab::gui {

ScenarioText::ScenarioText() {
  editor_.SetLanguage(yaml_language());
  editor_.SetTabSize(2);
  editor_.SetInsertSpacesOnTabs(true);
  editor_.SetShowWhitespacesEnabled(false);
  editor_.SetShowScrollbarMiniMapEnabled(false);
  editor_.SetCompletePairedGlyphs(false);  // what is typed is what is there
  editor_.SetChangeCallback([this] { typed_ = true; });
}

// The editor keeps a copy; whatever else changed the text (the form, undo, the file) replaces it.
void ScenarioText::take_document(const Session& session) {
  const Document& document = session.document();
  const bool another = seen_documents_ != session.documents_opened();
  if (!another && seen_revision_ == document.revision()) return;
  seen_documents_ = session.documents_opened();
  seen_revision_ = document.revision();
  if (editor_.GetText() == document.text()) return;
  const TextEditor::DocPos cursor = editor_.GetMainCursorPosition();
  const std::size_t top = editor_.GetFirstVisibleRow();
  editor_.SetText(document.text());
  if (!another) {
    editor_.SetCursor(cursor);
    editor_.ScrollToLine(top, TextEditor::Scroll::alignTop);
  }
  typed_ = false;
}

void ScenarioText::mark_problems(const Session& session, const Theme& theme) {
  const std::string problem = session.problem() ? to_string(*session.problem()) : "";
  if (problem == marked_) return;
  marked_ = problem;
  editor_.ClearMarkers();
  problems_ =
      session.problem() ? problem_lines(*session.problem(), session.file_name()) : std::vector<ProblemLine>();
  for (const ProblemLine& line : problems_) {
    if (!line.place || line.place->line > editor_.GetLineCount()) continue;
    editor_.AddMarker(line.place->line - 1, faded(theme.bad, 0.5F), faded(theme.bad, 0.18F), line.text,
                      line.text);
  }
}

void ScenarioText::list_problems(const Theme& theme) {
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const ProblemLine& line = problems_[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::PushStyleColor(ImGuiCol_Text, theme.bad);
    ImGui::PushTextWrapPos(0);
    if (line.place) {
      const std::string place = fmt::format("line {}", line.place->line);
      if (ImGui::TextLink(place.c_str())) editor_.SetCursor({line.place->line - 1, line.place->column - 1});
      ImGui::SameLine();
    }
    ImGui::TextUnformatted(line.text.c_str());
    ImGui::PopStyleColor();
    if (!line.hint.empty()) ImGui::TextDisabled("%s", line.hint.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopID();
  }
}

void ScenarioText::draw(PanelContext& context) {
  Session& session = context.session;
  const Theme& theme = context.theme;
  take_document(session);
  editor_.SetPalette(editor_palette(theme));
  mark_problems(session, theme);
  const float below = problems_.empty() ? 0
                                        : ImGui::GetTextLineHeightWithSpacing() * 2.2F *
                                              static_cast<float>(std::min<std::size_t>(problems_.size(), 3));
  ImGui::PushFont(theme.fonts.mono, k_mono_size);
  editor_.Render("##scenario text", {0, ImGui::GetContentRegionAvail().y - below});
  ImGui::PopFont();
  if (std::exchange(typed_, false)) {
    session.edit_text(editor_.GetText());
    seen_revision_ = session.document().revision();
  }
  if (problems_.empty()) return;
  if (ImGui::BeginChild("problems")) list_problems(theme);
  ImGui::EndChild();
}

}  // namespace shardlab::gui

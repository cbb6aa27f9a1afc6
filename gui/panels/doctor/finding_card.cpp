#include "gui/panels/doctor/finding_card.h"

#include "gui/panels/doctor/effect_table.h"
#include "gui/panels/doctor/log_excerpt.h"
#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {
namespace {

void faint_text(const std::string& text, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

void faint_prose(const std::string& text, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  draw_prose(text, theme);
  ImGui::PopStyleColor();
}

void draw_heading(const view::FindingCard& card, const Theme& theme) {
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextColored(ImColor(colour_of(theme, card.severity)), "%s", card.heading.c_str());
  ImGui::SameLine(0, theme.scaled(8));
  ImGui::TextUnformatted(card.title.c_str());
  ImGui::PopFont();
  ImGui::PushFont(nullptr, k_small_size);
  faint_text(card.rule, theme);
  ImGui::PopFont();
}

// Whether it was clicked.
bool draw_evidence(const view::EvidenceLine& line, bool of_log, const Theme& theme) {
  ImGui::Bullet();
  bool clicked = false;
  if (line.leads_somewhere()) {
    clicked = ImGui::TextLink(line.link.c_str());
  } else {
    ImGui::TextUnformatted(line.link.c_str());
  }
  if (line.text.empty()) return clicked;
  ImGui::SameLine(0, theme.scaled(8));
  if (of_log) ImGui::PushFont(theme.fonts.mono, k_small_size);
  faint_text(line.text, theme);
  if (of_log) ImGui::PopFont();
  return clicked;
}

void draw_all_evidence(const view::FindingCard& card, const CardOptions& options, CardEvents& events,
                       const Theme& theme) {
  for (const view::EvidenceLine& line : card.evidence) {
    ImGui::PushID(static_cast<int>(&line - card.evidence.data()));
    const bool clicked = draw_evidence(line, options.lines != nullptr, theme);
    if (clicked && line.line == 0) events.followed = &line;
    if (options.shown != nullptr && line.line > 0) {
      if (clicked) *options.shown = {options.shown->evidence == &line ? nullptr : &line, true};
      if (options.shown->evidence == &line) {
        draw_log_excerpt(*options.lines, line.line, options.shown->is_new, theme);
        options.shown->is_new = false;
      }
    }
    ImGui::PopID();
  }
}

// Whether it is to be applied.
bool draw_fix(const view::FindingCard& card, bool can_apply, const Theme& theme) {
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted("Fix");
  ImGui::PopFont();
  ImGui::SameLine(0, theme.scaled(8));
  draw_prose(card.fix, theme);
  ImGui::PushFont(theme.fonts.mono, k_small_size);
  for (const std::string& setting : card.set) ImGui::TextUnformatted(setting.c_str());
  ImGui::PopFont();
  draw_effect_table(card.effect, theme);
  if (!card.can_apply) return false;
  ImGui::BeginDisabled(!can_apply);
  const bool applied = ImGui::Button("Apply");
  ImGui::EndDisabled();
  if (!card.verdict.empty()) {
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    faint_text(card.verdict, theme);
  }
  return applied;
}

}  // namespace

ImU32 colour_of(const Theme& theme, Severity severity) {
  switch (severity) {
    case Severity::error: return theme.bad;
    case Severity::warning: return theme.fair;
    case Severity::info: break;
  }
  return theme.dimmed;
}

CardEvents draw_finding_card(const view::FindingCard& card, const CardOptions& options, const Theme& theme) {
  CardEvents events;
  ImGui::PushID(card.rule.c_str());
  const ImVec2 top = ImGui::GetCursorScreenPos();
  ImGui::Indent(theme.scaled(12));
  ImGui::PushTextWrapPos(0);
  draw_heading(card, theme);
  draw_prose(card.message, theme);
  draw_all_evidence(card, options, events, theme);
  if (!card.why.empty() && ImGui::TreeNode("Why")) {
    faint_prose(card.why, theme);
    ImGui::TreePop();
  }
  if (!card.fix.empty() && draw_fix(card, options.can_apply, theme)) events.applied = &card;
  ImGui::PopTextWrapPos();
  ImGui::Unindent(theme.scaled(12));
  const float bottom = ImGui::GetCursorScreenPos().y - ImGui::GetStyle().ItemSpacing.y;
  const ImU32 colour = ImGui::GetColorU32(colour_of(theme, card.severity));
  ImGui::GetWindowDrawList()->AddRectFilled(top, {top.x + theme.scaled(3), bottom}, colour,
                                            theme.scaled(1.5F));
  ImGui::Dummy({0, theme.scaled(6)});
  ImGui::PopID();
  return events;
}

}  // namespace shardlab::gui

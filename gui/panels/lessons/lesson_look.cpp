#include "gui/panels/lessons/lesson_look.h"

#include <fmt/format.h>
#include <imgui.h>

#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {
namespace {

using lessons::LookPanel;

// The panel compares two of them; each can be opened beside the first.
void draw_compared(const view::LookPage& look, LessonStage& stage) {
  const float edge = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  for (std::size_t i = 1; i < look.scenes.size(); ++i) {
    const std::string label =
        fmt::format("{} and {}##compared", look.scenes.front().name, look.scenes[i].name);
    const ImGuiStyle& style = ImGui::GetStyle();
    const float width = ImGui::CalcTextSize(label.c_str(), nullptr, true).x + 2 * style.FramePadding.x;
    if (i > 1 && ImGui::GetItemRectMax().x + style.ItemSpacing.x + width <= edge) ImGui::SameLine();
    view::LookPage pair = look;
    if (!ImGui::SmallButton(label.c_str())) continue;
    pair.scenes = {look.scenes.front(), look.scenes[i]};
    stage.show(pair);
  }
}

}  // namespace

void draw_look(const view::LookPage& look, LessonStage& stage, const Theme& theme) {
  std::string where = fmt::format("{} of {}", to_string(look.panel), look.scenes.front().name);
  if (look.panel == LookPanel::compare) where = "compare";
  if (look.step != PlanPhase::steady) where += fmt::format(", step {}", to_string(look.step));
  if (look.rank != 0) where += fmt::format(", rank {}", look.rank);
  if (!look.highlight.empty()) where += ", look at " + look.highlight;
  ImGui::TextDisabled("%s", where.c_str());
  ImGui::SameLine();
  if (ImGui::SmallButton("Show")) stage.show(look);
  if (look.panel == LookPanel::compare && look.scenes.size() > 2) draw_compared(look, stage);
  const bool is_in_panel = look.step == PlanPhase::steady && look.panel != LookPanel::compare &&
                           look.panel != LookPanel::player && look.panel != LookPanel::fit;
  if (ImGui::CollapsingHeader("As text", is_in_panel ? 0 : ImGuiTreeNodeFlags_DefaultOpen))
    draw_fixed_text("##picture", look.picture, theme);
  ImGui::Spacing();
}

}  // namespace shardlab::gui

#include "gui/panels/lessons/lesson_look.h"

#include <fmt/format.h>
#include <imgui.h>

#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {
namespace {

using lessons::LookPanel;

// All are compared; one of them is open in the other panels, beside the first.
void draw_compared(const view::LookPage& look, LessonStage& stage) {
  const float edge = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  ImGui::TextDisabled("open:");
  for (std::size_t i = 1; i < look.scenes.size(); ++i) {
    const std::string label = look.scenes[i].name + "##compared";
    const ImGuiStyle& style = ImGui::GetStyle();
    const float width = ImGui::CalcTextSize(label.c_str(), nullptr, true).x + 2 * style.FramePadding.x;
    if (ImGui::GetItemRectMax().x + style.ItemSpacing.x + width <= edge) ImGui::SameLine();
    if (ImGui::SmallButton(label.c_str())) stage.show_beside_first(look, look.scenes[i]);
    ImGui::SetItemTooltip("%s", fmt::format("Opens {} in the other panels, beside {}", look.scenes[i].name,
                                            look.scenes.front().name)
                                    .c_str());
  }
}

std::string what_of(const view::LookPage& look) {
  std::string where = fmt::format("{} of {}", to_string(look.panel), look.scenes.front().name);
  if (look.panel == LookPanel::compare) where = "compare";
  if (look.step != PlanPhase::steady) where += fmt::format(", step {}", to_string(look.step));
  if (look.rank != 0) where += fmt::format(", rank {}", look.rank);
  if (!look.highlight.empty()) where += ", look at " + look.highlight;
  return where;
}

}  // namespace

void draw_look(const view::LookPage& look, LessonStage& stage, const Theme& theme) {
  ImGui::TextDisabled("%s", what_of(look).c_str());
  ImGui::SameLine();
  if (ImGui::SmallButton("Show")) stage.show(look);
  if (look.panel == LookPanel::compare && look.scenes.size() > 2) draw_compared(look, stage);
  if (look.picture.empty()) return ImGui::Spacing();
  // What is said of it is not to be pushed out of sight by what a panel shows better.
  const bool is_in_panel = look.step == PlanPhase::steady && look.panel != LookPanel::player;
  if (ImGui::CollapsingHeader("As text", is_in_panel ? 0 : ImGuiTreeNodeFlags_DefaultOpen))
    draw_fixed_text("##picture", look.picture, theme);
  ImGui::Spacing();
}

}  // namespace shardlab::gui

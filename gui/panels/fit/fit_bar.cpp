#include "gui/panels/fit/fit_bar.h"

#include <algorithm>

namespace shardlab::gui {
namespace {

ImU32 colour_of_part(const view::FitPart& part, std::size_t index, const Theme& theme) {
  if (part.buffer_class) return colour_of(theme, *part.buffer_class);
  return faded(theme.dimmed, index % 2 == 0 ? 0.75F : 0.5F);
}

void tooltip(const view::FitPart& part) {
  ImGui::SetTooltip("%s  %s%s%s", part.name.c_str(), to_string(part.bytes).c_str(),
                    part.note.empty() ? "" : "\n", part.note.c_str());
}

// The 80 % band of a prediction: a bracket below the bar.
void draw_band(const view::FitView& view, ImVec2 at, ImVec2 size, double full, const Theme& theme) {
  if (!view.low || !view.high) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto x = [&](Bytes bytes) {
    return at.x + static_cast<float>(std::min(static_cast<double>(bytes.value) / full, 1.0)) * size.x;
  };
  const ImU32 colour = faded(theme.text, 0.7F * ImGui::GetStyle().Alpha);
  const float y = at.y + size.y + theme.scaled(4), half = theme.scaled(3);
  list.AddLine({x(*view.low), y}, {x(*view.high), y}, colour, theme.scaled(1.5F));
  for (const float end : {x(*view.low), x(*view.high)})
    list.AddLine({end, y - half}, {end, y + half}, colour, theme.scaled(1.5F));
}

void draw_capacity(const view::FitView& view, ImVec2 at, ImVec2 size, double full, const Theme& theme) {
  if (!view.capacity) return;
  const float x = at.x + static_cast<float>(static_cast<double>(view.capacity->value) / full) * size.x;
  ImGui::GetWindowDrawList()->AddLine({x, at.y - theme.scaled(3)}, {x, at.y + size.y + theme.scaled(3)},
                                      faded(theme.bad, ImGui::GetStyle().Alpha), theme.scaled(2));
}

}  // namespace

void draw_fit_bar(const view::FitView& view, const Theme& theme) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, theme.scaled(26)};
  ImGui::Dummy({size.x, size.y + theme.scaled(10)});
  const Bytes most = std::max({view.needed, view.capacity.value_or(Bytes{}), view.high.value_or(Bytes{})});
  const double full = 1.02 * static_cast<double>(std::max<std::int64_t>(most.value, 1));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float alpha = ImGui::GetStyle().Alpha;
  list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, faded(theme.control, alpha), theme.scaled(4));
  double begin = 0;
  for (std::size_t i = 0; i < view.parts.size(); ++i) {
    const view::FitPart& part = view.parts[i];
    const double bytes = std::max(static_cast<double>(part.bytes.value), 0.0);
    const ImVec2 left{at.x + static_cast<float>(begin / full) * size.x, at.y};
    begin += bytes;
    const ImVec2 right{at.x + static_cast<float>(begin / full) * size.x, at.y + size.y};
    list.AddRectFilled(left, right, faded(colour_of_part(part, i, theme), alpha));
    if (right.x - left.x > theme.scaled(3))
      list.AddLine({right.x, at.y}, right, faded(theme.panel, alpha), theme.scaled(1));
    if (ImGui::IsMouseHoveringRect(left, right) && ImGui::IsWindowHovered()) tooltip(part);
  }
  draw_band(view, at, size, full, theme);
  draw_capacity(view, at, size, full, theme);
}

}  // namespace shardlab::gui

#include "gui/panels/search/scatter.h"

#include <imgui.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace shardlab::gui {
namespace {

constexpr std::size_t k_most_points =
    20'000;                  // beyond them a picture of counts says more, and is drawn as fast
constexpr float k_cell = 4;  // pixels of a count's square

void refresh(const ScatterInputs& inputs, ScatterState& state) {
  if (state.revision == inputs.revision && state.x == inputs.x && state.y == inputs.y) return;
  state.revision = inputs.revision;
  state.x = inputs.x;
  state.y = inputs.y;
  const std::vector<double>& x = inputs.points.of(inputs.x);
  const std::vector<double>& y = inputs.points.of(inputs.y);
  state.x_range = view::range_of(x, inputs.passing);
  state.y_range = view::range_of(y, inputs.passing);
  state.xs.clear();
  state.ys.clear();
  if (inputs.passing.size() <= k_most_points) {
    for (const std::uint32_t i : inputs.passing) {
      state.xs.push_back(x[i]);
      state.ys.push_back(y[i]);
    }
  }
  state.front_x.clear();
  state.front_y.clear();
  for (const std::uint32_t i : view::front_of(inputs.points, inputs.passing, inputs.x, inputs.y)) {
    state.front_x.push_back(x[i]);
    state.front_y.push_back(y[i]);
  }
}

// Squares, the more points the darker: of few points each is seen, and a hundred are told from ten.
void draw_counts(const ScatterInputs& inputs, ScatterState& state, const Theme& theme) {
  const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  const float cell = theme.scaled(k_cell);
  const int columns = std::max(1, static_cast<int>(size.x / cell)),
            rows = std::max(1, static_cast<int>(size.y / cell));
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  view::count_points(
      inputs.points.of(inputs.x), inputs.points.of(inputs.y), inputs.passing,
      {view::AxisRange{limits.X.Min, limits.X.Max}, view::AxisRange{limits.Y.Min, limits.Y.Max}}, columns,
      rows, state.density);
  const double most = std::log1p(state.density.most);
  ImDrawList& list = *ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const std::uint32_t count = state.density.counts[static_cast<std::size_t>(row * columns + column)];
      if (count == 0) continue;
      const float left = at.x + static_cast<float>(column) * cell;
      const float bottom = at.y + size.y - static_cast<float>(row) * cell;
      const float strength = 0.25F + 0.75F * static_cast<float>(std::log1p(count) / most);
      list.AddRectFilled({left, bottom - cell}, {left + cell, bottom}, faded(theme.accent, strength));
    }
  }
  ImPlot::PopPlotClipRect();
}

void draw_points(const char* name, const std::vector<double>& x, const std::vector<double>& y, ImU32 colour,
                 const Theme& theme) {
  if (x.empty()) return;
  ImPlot::PlotScatter(name, x.data(), y.data(), static_cast<int>(x.size()),
                      {ImPlotProp_Marker, static_cast<int>(ImPlotMarker_Circle), ImPlotProp_MarkerSize,
                       theme.scaled(3), ImPlotProp_MarkerFillColor, ImGui::ColorConvertU32ToFloat4(colour),
                       ImPlotProp_MarkerLineColor, ImGui::ColorConvertU32ToFloat4(colour)});
}

void draw_front(const ScatterState& state, const Theme& theme) {
  if (state.front_x.empty()) return;
  ImPlot::PlotLine("not beaten", state.front_x.data(), state.front_y.data(),
                   static_cast<int>(state.front_x.size()),
                   {ImPlotProp_LineColor, ImGui::ColorConvertU32ToFloat4(theme.series[1]),
                    ImPlotProp_LineWeight, theme.scaled(1.5F), ImPlotProp_Marker,
                    static_cast<int>(ImPlotMarker_Diamond), ImPlotProp_MarkerSize, theme.scaled(4)});
}

// What is under the mouse, and whether it was clicked.
std::optional<std::uint32_t> pointed(const ScatterInputs& inputs, const Theme& theme) {
  if (!ImPlot::IsPlotHovered()) return std::nullopt;
  const ImPlotPoint mouse = ImPlot::GetPlotMousePos();
  const ImVec2 size = ImPlot::GetPlotSize();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  const double reach = theme.scaled(8);
  const std::array<double, 2> reaches = {reach * limits.X.Size() / static_cast<double>(size.x),
                                         reach * limits.Y.Size() / static_cast<double>(size.y)};
  return view::nearest_point(inputs.points.of(inputs.x), inputs.points.of(inputs.y), inputs.passing,
                             {mouse.x, mouse.y}, reaches);
}

}  // namespace

std::optional<std::uint32_t> draw_scatter(const ScatterInputs& inputs, ScatterState& state,
                                          const Theme& theme) {
  refresh(inputs, state);
  if (!ImPlot::BeginPlot("##scatter", {-1, -1},
                         ImPlotFlags_NoFrame | ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText))
    return std::nullopt;
  const std::string x_title(view::title_of(inputs.x, inputs.has_tokens)),
      y_title(view::title_of(inputs.y, inputs.has_tokens));
  ImPlot::SetupAxes(x_title.c_str(), y_title.c_str());
  ImPlot::SetupAxisLimits(ImAxis_X1, state.x_range.low, state.x_range.high, ImPlotCond_Always);
  ImPlot::SetupAxisLimits(ImAxis_Y1, state.y_range.low, state.y_range.high, ImPlotCond_Always);
  ImPlot::SetupLegend(ImPlotLocation_NorthEast, ImPlotLegendFlags_Outside | ImPlotLegendFlags_Horizontal);
  ImPlot::SetupFinish();
  if (inputs.passing.size() > k_most_points)
    draw_counts(inputs, state, theme);
  else
    draw_points("configurations", state.xs, state.ys, theme.series[0], theme);
  draw_front(state, theme);
  const auto at = pointed(inputs, theme);
  if (at) ImGui::SetTooltip("%s", inputs.points.knobs[*at].c_str());
  const bool clicked = at && ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  ImPlot::EndPlot();
  return clicked ? at : std::nullopt;
}

}  // namespace shardlab::gui

#include "gui/panels/runs/trend_plot.h"

#include <implot.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/report/figures.h"

namespace shardlab::gui {
namespace {

int write_error(double value, char* text, int size, void*) {
  return std::snprintf(text, static_cast<std::size_t>(size), "%s",
                       std::abs(value) < 1e-9 ? "0 %" : signed_percent(value).c_str());
}

void line(const char* name, const std::vector<double>& x, const std::vector<double>& y, ImU32 colour,
          const Theme& theme) {
  if (x.empty()) return;
  const ImVec4 value = ImGui::ColorConvertU32ToFloat4(colour);
  ImPlot::PlotLine(name, x.data(), y.data(), static_cast<int>(x.size()),
                   {ImPlotProp_LineColor, value, ImPlotProp_LineWeight, theme.scaled(1.5F), ImPlotProp_Marker,
                    static_cast<int>(ImPlotMarker_Circle), ImPlotProp_MarkerSize, theme.scaled(3)});
}

std::optional<std::size_t> pointed(const std::vector<double>& y, float reach) {
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const ImVec2 at = ImPlot::PlotToPixels(static_cast<double>(i), y[i]);
    if (std::abs(at.x - mouse.x) + std::abs(at.y - mouse.y) < reach) return i;
  }
  return std::nullopt;
}

}  // namespace

TrendResult draw_trend(const std::vector<view::TrendPoint>& trend, const Theme& theme) {
  std::vector<double> x, times, peak_x, peaks;
  double extent = 0.2;
  for (std::size_t i = 0; i < trend.size(); ++i) {
    x.push_back(static_cast<double>(i));
    times.push_back(trend[i].step_time_error);
    extent = std::max(extent, std::abs(trend[i].step_time_error) * 1.15);
    if (!trend[i].peak_error) continue;
    peak_x.push_back(static_cast<double>(i));
    peaks.push_back(*trend[i].peak_error);
    extent = std::max(extent, std::abs(*trend[i].peak_error) * 1.15);
  }
  TrendResult result;
  if (!ImPlot::BeginPlot("##trend", {-1, -1},
                         ImPlotFlags_NoFrame | ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText))
    return result;
  ImPlot::SetupAxes("measured runs, oldest first", "error of the prediction");
  ImPlot::SetupAxisLimits(ImAxis_X1, -0.5, static_cast<double>(trend.size()) - 0.5, ImPlotCond_Always);
  ImPlot::SetupAxisLimits(ImAxis_Y1, -extent, extent, ImPlotCond_Always);
  ImPlot::SetupAxisFormat(ImAxis_Y1, write_error);
  // As many names as have room.
  const std::size_t every = trend.size() / 16 + 1;
  std::vector<std::string> names;
  std::vector<double> places;
  for (std::size_t i = 0; i < trend.size(); i += every) {
    places.push_back(static_cast<double>(i));
    names.push_back(to_string(trend[i].measured));
  }
  std::vector<const char*> labels;
  for (const std::string& name : names) labels.push_back(name.c_str());
  ImPlot::SetupAxisTicks(ImAxis_X1, places.data(), static_cast<int>(places.size()), labels.data());
  ImPlot::SetupLegend(ImPlotLocation_NorthEast,
                      ImPlotLegendFlags_Outside | ImPlotLegendFlags_Horizontal);  // never over a point
  ImPlot::SetupFinish();
  const double zero = 0;
  ImPlot::PlotInfLines("##zero", &zero, 1,
                       {ImPlotProp_LineColor, ImGui::ColorConvertU32ToFloat4(theme.dimmed), ImPlotProp_Flags,
                        static_cast<int>(ImPlotInfLinesFlags_Horizontal)});
  line("step time", x, times, theme.series[0], theme);
  line("peak memory", peak_x, peaks, theme.series[1], theme);
  if (const auto at = ImPlot::IsPlotHovered() ? pointed(times, theme.scaled(10)) : std::nullopt) {
    const view::TrendPoint& point = trend[*at];
    ImGui::SetTooltip("%s\n%s measured, %s predicted%s\nstep time %s", point.name.c_str(),
                      to_string(point.measured).c_str(), to_string(point.predicted).c_str(),
                      point.calibrated ? "" : ", not calibrated",
                      signed_percent(point.step_time_error).c_str());
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) result.clicked = point.measured;
  }
  result.min = ImPlot::GetPlotPos();
  result.max = {result.min.x + ImPlot::GetPlotSize().x, result.min.y + ImPlot::GetPlotSize().y};
  ImPlot::EndPlot();
  return result;
}

}  // namespace shardlab::gui

#include "gui/panels/compare/scatter_plot.h"

#include <fmt/format.h>
#include <implot.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "engine/report/figures.h"
#include "gui/widgets/why_popup.h"

namespace shardlab::gui {
namespace {

constexpr double k_band = 0.1;

struct Series {
  std::string name;
  ImU32 colour = 0;
  std::vector<double> x, y;
  std::vector<const view::ScatterPoint*> points;
};

int write_time(double value, char* text, int size, void*) {
  return std::snprintf(text, static_cast<std::size_t>(size), "%s",
                       to_string(Nanoseconds{std::llround(value)}).c_str());
}

int write_error(double value, char* text, int size, void*) {
  return std::snprintf(text, static_cast<std::size_t>(size), "%s",
                       std::abs(value) < 1e-9 ? "0 %" : signed_percent(value).c_str());
}

double height_of(const view::ScatterPoint& point, ScatterForm form) {
  return form == ScatterForm::error ? point.error
                                    : static_cast<double>(std::max<std::int64_t>(point.time.value, 1));
}

// A series for each kind of instruction, and for each run where there are several.
std::vector<Series> series_of(const view::RunComparison& comparison, ScatterForm form, const Theme& theme) {
  std::map<std::pair<std::size_t, InstructionKind>, Series> all;
  for (const view::ScatterPoint& point : comparison.points) {
    Series& series = all[{point.run, point.kind}];
    if (series.name.empty()) {
      series.name = std::string(to_string(point.kind));
      if (comparison.titles.size() > 2) series.name += " " + comparison.titles[point.run];
      series.colour = colour_of(theme, point.kind);
    }
    series.x.push_back(static_cast<double>(point.reference.value));
    series.y.push_back(height_of(point, form));
    series.points.push_back(&point);
  }
  std::vector<Series> list;
  for (auto& [key, series] : all) list.push_back(std::move(series));
  return list;
}

struct Extent {
  double x0 = 1e300, x1 = 1, y0 = 1e300, y1 = -1e300;
};

Extent extent_of(const view::RunComparison& comparison, ScatterForm form) {
  Extent extent;
  for (const view::ScatterPoint& point : comparison.points) {
    const auto x = static_cast<double>(point.reference.value);
    const double y = height_of(point, form);
    extent = {std::min(extent.x0, x), std::max(extent.x1, x), std::min(extent.y0, y), std::max(extent.y1, y)};
  }
  if (form == ScatterForm::error)
    return {extent.x0 / 1.5, extent.x1 * 1.5, std::min(extent.y0, -0.15) * 1.1,
            std::max(extent.y1, 0.15) * 1.1};
  return {extent.x0 / 1.5, extent.x1 * 1.5, std::min(extent.x0, extent.y0) / 1.5,
          std::max(extent.x1, extent.y1) * 1.5};
}

void set_up(const view::RunComparison& comparison, ScatterForm form) {
  const Extent extent = extent_of(comparison, form);
  const std::string reference = comparison.titles[comparison.reference];
  const std::string other =
      comparison.titles.size() == 2 ? comparison.titles[1 - comparison.reference] : "other runs";
  ImPlot::SetupAxes(fmt::format("time in {}", reference).c_str(),
                    form == ScatterForm::error ? "error" : fmt::format("time in {}", other).c_str());
  ImPlot::SetupAxisScale(ImAxis_X1, ImPlotScale_Log10);
  ImPlot::SetupAxisFormat(ImAxis_X1, write_time);
  ImPlot::SetupAxisLimits(ImAxis_X1, extent.x0, extent.x1);
  if (form == ScatterForm::values) ImPlot::SetupAxisScale(ImAxis_Y1, ImPlotScale_Log10);
  ImPlot::SetupAxisFormat(ImAxis_Y1, form == ScatterForm::error ? write_error : write_time);
  ImPlot::SetupAxisLimits(ImAxis_Y1, extent.y0, extent.y1);
  ImPlot::SetupLegend(ImPlotLocation_East, ImPlotLegendFlags_Outside);
  ImPlot::SetupFinish();
}

void draw_band(ScatterForm form, const Theme& theme) {
  const ImPlotRect seen = ImPlot::GetPlotLimits();
  const double x[] = {seen.X.Min, seen.X.Max};
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(theme.good);
  const auto line = [&](double factor, float opacity) {
    const double level = factor - 1;
    const double flat[] = {level, level}, diagonal[] = {x[0] * factor, x[1] * factor};
    ImPlot::PlotLine("##band", x, form == ScatterForm::error ? flat : diagonal, 2,
                     {ImPlotProp_LineColor, ImVec4(colour.x, colour.y, colour.z, opacity),
                      ImPlotProp_LineWeight, theme.scaled(1), ImPlotProp_Flags,
                      static_cast<int>(ImPlotItemFlags_NoFit | ImPlotItemFlags_NoLegend)});
  };
  line(1, 0.9F);
  line(1 + k_band, 0.45F);
  line(1 - k_band, 0.45F);
}

const view::ScatterPoint* nearest(const std::vector<Series>& all, float reach) {
  const ImVec2 mouse = ImGui::GetMousePos();
  const view::ScatterPoint* best = nullptr;
  float best_distance = reach * reach;
  for (const Series& series : all) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const ImVec2 at = ImPlot::PlotToPixels(series.x[i], series.y[i]);
      const float distance = (at.x - mouse.x) * (at.x - mouse.x) + (at.y - mouse.y) * (at.y - mouse.y);
      if (distance > best_distance) continue;
      best = series.points[i];
      best_distance = distance;
    }
  }
  return best;
}

void ring(const view::ScatterPoint& point, ScatterForm form, const Theme& theme) {
  const ImVec2 at = ImPlot::PlotToPixels(static_cast<double>(point.reference.value), height_of(point, form));
  ImPlot::GetPlotDrawList()->AddCircle(at, theme.scaled(7), theme.text, 0, theme.scaled(2));
}

}  // namespace

ScatterResult draw_scatter(const view::RunComparison& comparison, ScatterForm form,
                           std::optional<InstructionId> chosen,
                           const std::function<std::string(InstructionId)>& label, ImVec2 size,
                           const Theme& theme) {
  ScatterResult result;
  if (!ImPlot::BeginPlot(form == ScatterForm::error ? "##error" : "##values", size,
                         ImPlotFlags_NoFrame | ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText))
    return result;
  set_up(comparison, form);
  draw_band(form, theme);
  const std::vector<Series> all = series_of(comparison, form, theme);
  for (const Series& series : all) {
    const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(series.colour);
    ImPlot::PlotScatter(series.name.c_str(), series.x.data(), series.y.data(),
                        static_cast<int>(series.x.size()),
                        {ImPlotProp_Marker, static_cast<int>(ImPlotMarker_Circle), ImPlotProp_MarkerSize,
                         theme.scaled(3.5F), ImPlotProp_MarkerFillColor, colour, ImPlotProp_MarkerLineColor,
                         colour, ImPlotProp_FillAlpha, 0.75F});
  }
  for (const view::ScatterPoint& point : comparison.points) {
    if (chosen == point.instruction) ring(point, form, theme);
  }
  const view::ScatterPoint* const pointed =
      ImPlot::IsPlotHovered() ? nearest(all, theme.scaled(10)) : nullptr;
  if (pointed != nullptr) {
    ImGui::SetTooltip("%s\n%s in %s\n%s in %s\n%s", label(pointed->instruction).c_str(),
                      to_string(pointed->time).c_str(), comparison.titles[pointed->run].c_str(),
                      to_string(pointed->reference).c_str(), comparison.titles[comparison.reference].c_str(),
                      signed_percent(pointed->error).c_str());
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) result.clicked = pointed->instruction;
    if (is_why_asked()) result.asked = *pointed;
  }
  result.min = ImPlot::GetPlotPos();
  result.max = {result.min.x + ImPlot::GetPlotSize().x, result.min.y + ImPlot::GetPlotSize().y};
  ImPlot::EndPlot();
  return result;
}

}  // namespace shardlab::gui

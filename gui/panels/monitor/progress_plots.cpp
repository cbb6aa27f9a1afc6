#include "gui/panels/monitor/progress_plots.h"

#include <implot.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "engine/report/figures.h"
#include "gui/widgets/plot_edges.h"

namespace shardlab::gui {
namespace {

int write_rate(double value, char* text, int size, void*) {
  return std::snprintf(text, static_cast<std::size_t>(size), "%s", rate(std::max(value, 0.0)).c_str());
}

int write_loss(double value, char* text, int size, void*) {
  return std::snprintf(text, static_cast<std::size_t>(size), "%.2f", value);
}

struct Curve {
  const char* title;
  ImPlotFormatter format;  // null: bytes
  ImU32 colour;
  bool from_zero;
  std::vector<double> x, y;
};

void add(Curve& curve, std::int64_t step, std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return;
  curve.x.push_back(static_cast<double>(step));
  curve.y.push_back(*value);
}

// Ticks at whole steps.
void set_up_steps(std::int64_t steps) {
  const std::int64_t every = (steps + 7) / 8;
  ImPlot::SetupAxisLimits(ImAxis_X1, 0, static_cast<double>(steps) + 0.02 * static_cast<double>(steps) + 0.2,
                          ImPlotCond_Always);
  ImPlot::SetupAxisFormat(ImAxis_X1, "%.0f");
  ImPlot::SetupAxisTicks(ImAxis_X1, 0, static_cast<double>(steps / every * every),
                         static_cast<int>(steps / every) + 1);
}

void draw(const Curve& curve, std::int64_t steps, ImVec2 size, const Theme& theme) {
  const double low = *std::min_element(curve.y.begin(), curve.y.end()),
               high = *std::max_element(curve.y.begin(), curve.y.end());
  const double margin = std::max((high - low) * 0.1, std::abs(high) * 0.02 + 1e-9);
  if (!ImPlot::BeginPlot(curve.title, size,
                         ImPlotFlags_NoLegend | ImPlotFlags_NoFrame | ImPlotFlags_NoMenus |
                             ImPlotFlags_NoMouseText | ImPlotFlags_NoInputs))
    return;
  ImPlot::SetupAxes("step", nullptr);
  set_up_steps(std::max({steps, static_cast<std::int64_t>(curve.x.back()), std::int64_t{2}}));
  if (curve.format == nullptr) {
    set_up_byte_axis(high * 1.15 + 1, size.y - 5 * ImGui::GetFontSize());
  } else {
    ImPlot::SetupAxisLimits(ImAxis_Y1, curve.from_zero ? 0 : low - margin,
                            curve.from_zero ? high * 1.15 + 1e-9 : high + margin, ImPlotCond_Always);
    ImPlot::SetupAxisFormat(ImAxis_Y1, curve.format);
  }
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(curve.colour);
  ImPlot::PlotLine(curve.title, curve.x.data(), curve.y.data(), static_cast<int>(curve.x.size()),
                   {ImPlotProp_LineColor, colour, ImPlotProp_LineWeight, theme.scaled(2), ImPlotProp_Marker,
                    static_cast<int>(curve.x.size() < 40 ? ImPlotMarker_Circle : ImPlotMarker_None),
                    ImPlotProp_MarkerSize, theme.scaled(2.5F)});
  ImPlot::EndPlot();
}

}  // namespace

void draw_progress_plots(const view::JobOutput& output, float height, const Theme& theme) {
  std::vector<Curve> curves = {{"loss", write_loss, theme.series[0], false, {}, {}},
                               {"tokens per second", write_rate, theme.series[1], true, {}, {}},
                               {"peak memory of rank 0", nullptr, theme.series[3], true, {}, {}}};
  for (const view::JobStep& step : output.history) {
    add(curves[0], step.step, step.loss);
    add(curves[1], step.step, step.tokens_per_second);
    add(curves[2], step.step,
        step.peak ? std::optional(static_cast<double>(step.peak->value)) : std::nullopt);
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.y.empty(); });
  if (curves.empty()) return;
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const auto count = static_cast<float>(curves.size());
  const float width = (ImGui::GetContentRegionAvail().x - gap * (count - 1)) / count;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (i > 0) ImGui::SameLine();
    draw(curves[i], output.steps, {width, height}, theme);
  }
}

}  // namespace shardlab::gui

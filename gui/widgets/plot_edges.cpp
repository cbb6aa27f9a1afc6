#include "gui/widgets/plot_edges.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <implot.h>

#include "engine/base/units.h"

namespace shardlab::gui {

AlignedPlot::AlignedPlot(PlotEdges& edges)
    : edges_(edges), key_(ImGui::GetID("plot edge")), begin_(ImGui::GetCursorPosX()) {
  const float own = ImGui::GetStateStorage()->GetFloat(key_);
  if (own > 0) shift_ = std::max(std::round(edges.room() - own), 0.0F);
  width_ = ImGui::GetWindowWidth() - ImGui::GetStyle().ScrollbarSize - begin_ - shift_;
  ImGui::SetCursorPosX(begin_ + shift_);
}

void AlignedPlot::measure() {
  const float own = ImPlot::GetPlotPos().x - ImGui::GetWindowPos().x + ImGui::GetScrollX() - begin_ - shift_;
  ImGui::GetStateStorage()->SetFloat(key_, own);
  edges_.need(own);
}

void set_up_byte_axis(double top, float height, ByteAxis axis) {
  const bool is_above = axis == ByteAxis::above_unknown;
  const double most_ticks = std::clamp(std::floor(height / (1.35 * ImGui::GetFontSize())), 2.0, 8.0);
  double step = 1;
  while (top / step > most_ticks) step *= 2;
  std::vector<double> places;
  std::vector<std::string> texts;
  for (double at = 0; at <= top; at += step) {
    places.push_back(at);
    if (at == 0)
      texts.emplace_back(is_above ? "?" : "0");
    else
      texts.push_back((is_above ? "? + " : "") + to_string(Bytes{std::llround(at)}));
  }
  std::vector<const char*> labels;
  for (const std::string& text : texts) labels.push_back(text.c_str());
  ImPlot::SetupAxis(ImAxis_Y1, nullptr, ImPlotAxisFlags_Lock | ImPlotAxisFlags_NoHighlight);
  ImPlot::SetupAxisLimits(ImAxis_Y1, 0, top, ImPlotCond_Always);
  ImPlot::SetupAxisTicks(ImAxis_Y1, places.data(), static_cast<int>(places.size()), labels.data());
}

}  // namespace shardlab::gui

#include "gui/widgets/plot_edges.h"

#include <implot.h>

#include <algorithm>
#include <cmath>

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

}  // namespace shardlab::gui

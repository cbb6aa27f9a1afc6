#include "gui/panels/memory/space_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gui/view_model/memory/space_tables.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

constexpr float k_height = 80;

ImU32 colour_of(const Theme& theme, MemorySpace space) {
  return theme.series[space == MemorySpace::pinned_host ? 3 : space == MemorySpace::pageable_host ? 2 : 5];
}

void tooltip(const MemoryPlot& plot, std::size_t sample) {
  std::string text = plot.run.words().instruction(plot.track.samples[sample].instruction);
  for (const MemorySpace space : plot.track.others)
    text +=
        fmt::format("\n{}: {} while it ran", view::space_words(space),
                    to_string(plot.track.samples[sample].peak_elsewhere[static_cast<std::size_t>(space)]));
  ImGui::SetTooltip("%s", text.c_str());
}

}  // namespace

float space_plot_height(const view::MemoryTrack& track, const Theme& theme) {
  return track.others.empty() ? 0 : theme.scaled(k_height) + ImGui::GetStyle().ItemSpacing.y;
}

void draw_space_plot(const MemoryPlot& plot, const view::StackedMemory& stacked, SharedTime& time,
                     PlotEdges& edges, const Theme& theme) {
  if (plot.track.others.empty()) return;
  double top = 1;
  for (const MemorySpace space : plot.track.others)
    top = std::max(top, 1.2 * static_cast<double>(highest_in(plot.track, space).value));
  AlignedPlot aligned(edges);
  const float height = theme.scaled(k_height);
  if (!ImPlot::BeginPlot(("##spaces " + plot.track.title).c_str(), {aligned.width(), height},
                         ImPlotFlags_NoTitle | ImPlotFlags_NoFrame | ImPlotFlags_NoMenus |
                             ImPlotFlags_NoMouseText | ImPlotFlags_NoBoxSelect))
    return;
  time.set_up_axis(aligned.label_room());
  set_up_byte_axis(top, height - 3 * ImGui::GetFontSize());
  ImPlot::SetupLegend(ImPlotLocation_NorthEast, ImPlotLegendFlags_NoButtons);
  ImPlot::SetupFinish();
  aligned.measure();
  for (std::size_t i = 0; i < plot.track.others.size() && i < stacked.others.size(); ++i) {
    ImVec4 colour = ImGui::ColorConvertU32ToFloat4(colour_of(theme, plot.track.others[i]));
    colour.w *= plot.opacity;
    ImPlot::PlotStairs((view::space_words(plot.track.others[i]) + " memory").c_str(), stacked.times.data(),
                       stacked.others[i].data(), static_cast<int>(stacked.times.size()),
                       {ImPlotProp_LineColor, colour, ImPlotProp_LineWeight, theme.scaled(1.5F)});
  }
  const ImVec2 min = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  if (ImPlot::IsPlotHovered())
    if (const auto pointed = sample_at(plot.track, ImPlot::GetPlotMousePos().x)) tooltip(plot, *pointed);
  ImPlot::EndPlot();
  named_area("memory elsewhere", min, {min.x + size.x, min.y + size.y});
}

}  // namespace shardlab::gui

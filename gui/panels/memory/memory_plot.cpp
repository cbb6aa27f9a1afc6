#include "gui/panels/memory/memory_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/base/with_spaces.h"
#include "gui/widgets/plot_edges.h"
#include "gui/widgets/why_popup.h"

namespace shardlab::gui {
namespace {

constexpr float k_pixels_per_column = 1.5F;

ImVec4 vec(ImU32 colour, float opacity = 1) {
  ImVec4 result = ImGui::ColorConvertU32ToFloat4(colour);
  result.w *= opacity;
  return result;
}

constexpr float k_beside = 0.3F;  // how opaque what is not highlighted stays

// Strips drawn by hand: a column is a step, not a slope between two columns.
void draw_stack(const MemoryPlot& plot, const view::StackedMemory& stacked, const Theme& theme) {
  if (stacked.times.empty()) return;
  ImDrawList& list = *ImPlot::GetPlotDrawList();
  const float last = ImPlot::PlotToPixels(static_cast<double>(plot.track.end.value), 0.0).x;
  for (std::size_t column = 0; column < stacked.times.size(); ++column) {
    const float left = ImPlot::PlotToPixels(stacked.times[column], 0.0).x;
    const float right =
        column + 1 < stacked.times.size() ? ImPlot::PlotToPixels(stacked.times[column + 1], 0.0).x : last;
    float bottom = ImPlot::PlotToPixels(0.0, 0.0).y;
    for (std::size_t i = 0; i < stacked.tops.size(); ++i) {
      const bool has_classes = !plot.track.classes.empty();
      const ImU32 colour = has_classes ? colour_of(theme, plot.track.classes[i]) : theme.dimmed;
      const bool is_beside = has_classes && plot.highlight && plot.track.classes[i] != *plot.highlight;
      const float top = ImPlot::PlotToPixels(0.0, stacked.tops[i][column]).y;
      // A strip that is too thin to be seen is covered by the next one: it leaves no gap.
      if (bottom - top <= 0.25F) continue;
      list.AddRectFilled({left, top}, {std::max(right, left + 1), bottom},
                         faded(colour, plot.opacity * (is_beside ? k_beside : 1)));
      bottom = top;
    }
  }
}

void draw_marks(const MemoryPlot& plot, const Theme& theme) {
  if (plot.track.capacity && static_cast<double>(plot.track.capacity->value) <= plot.top) {
    const double at = static_cast<double>(plot.track.capacity->value);
    ImPlot::PlotInfLines("##capacity", &at, 1,
                         {ImPlotProp_LineColor, vec(theme.bad), ImPlotProp_LineWeight, theme.scaled(1.5F),
                          ImPlotProp_Flags, static_cast<int>(ImPlotInfLinesFlags_Horizontal)});
    std::string text = "capacity " + to_string(*plot.track.capacity);
    if (plot.track.in_use)
      text += fmt::format("; {} in use with gaps and libraries", to_string(*plot.track.in_use));
    // On the side where the peak is not, whose label would cover it.
    const ImPlotRange times = ImPlot::GetPlotLimits().X;
    const bool at_right = plot.track.peak && static_cast<double>(plot.track.times[*plot.track.peak].value) <
                                                 times.Min + times.Size() / 2;
    ImPlot::Annotation(at_right ? times.Max : times.Min, at, vec(theme.popup),
                       {theme.scaled(at_right ? -60.0F : 60.0F), theme.scaled(10)}, true, "%s", text.c_str());
  }
  if (plot.track.peak) {
    const auto time = static_cast<double>(plot.track.times[*plot.track.peak].value);
    const double bytes = static_cast<double>(plot.track.peaks[*plot.track.peak]);
    ImPlot::Annotation(time, bytes, vec(theme.popup), {theme.scaled(12), -theme.scaled(8)}, true,
                       plot.track.begins_unknown ? "peak ? + %s" : "peak %s",
                       to_string(Bytes{plot.track.peaks[*plot.track.peak]}).c_str());
  }
}

void draw_chosen(const MemoryPlot& plot, const Theme& theme) {
  if (!plot.chosen) return;
  const auto found =
      std::partition_point(plot.track.samples.begin(), plot.track.samples.end(),
                           [&](const MemorySample& sample) { return sample.instruction < *plot.chosen; });
  if (found == plot.track.samples.end() || found->instruction != *plot.chosen) return;
  const auto index = static_cast<std::size_t>(found - plot.track.samples.begin());
  const float x = ImPlot::PlotToPixels(static_cast<double>(plot.track.times[index].value), 0.0).x;
  const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
  ImPlot::GetPlotDrawList()->AddLine({x, at.y}, {x, at.y + size.y}, theme.text, theme.scaled(1.5F));
}

// Above the plot, where its area begins.
void draw_title(const MemoryPlot& plot, const PlotEdges& edges, const Theme& theme) {
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + edges.room());
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::PushStyleColor(ImGuiCol_Text, faded(theme.text, plot.opacity));
  ImGui::TextUnformatted(plot.track.title.c_str());
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

void tooltip(const MemoryPlot& plot, std::size_t index, const Theme& theme) {
  if (!ImGui::BeginTooltip()) return;
  const MemorySample& sample = plot.track.samples[index];
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(plot.run.words().instruction(sample.instruction).c_str());
  ImGui::PopFont();
  ImGui::TextDisabled("%s", instruction_label(plot.run.plan(), sample.instruction).c_str());
  ImGui::TextUnformatted(
      fmt::format("{} while it ran, {} after it", to_string(sample.peak), to_string(sample.live)).c_str());
  if (const std::string place = view::place_of(plot.run.plan(), sample.instruction); !place.empty())
    ImGui::TextUnformatted(place.c_str());
  if (ImGui::BeginTable("classes", 3, ImGuiTableFlags_SizingFixedFit)) {
    // As they are stacked: what is drawn on top comes first.
    for (auto each = plot.track.classes.rbegin(); each != plot.track.classes.rend(); ++each) {
      const Bytes bytes = sample.by_class_at_peak[static_cast<std::size_t>(*each)];
      if (bytes.value == 0) continue;
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      class_chip(*each, ImGui::GetTextLineHeight(), theme);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(class_name(*each).c_str());
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(to_string(bytes).c_str());
    }
    ImGui::EndTable();
  }
  ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(theme.dimmed), "click chooses it, right click says why");
  ImGui::EndTooltip();
}

}  // namespace

std::string class_name(BufferClass buffer_class) {
  return with_spaces(to_string(buffer_class));
}

void class_chip(BufferClass buffer_class, float height, const Theme& theme) {
  const float size = theme.scaled(10);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float down = (height - size) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + down}, {at.x + size, at.y + down + size},
                                            colour_of(theme, buffer_class), theme.scaled(2));
  ImGui::Dummy({size, height});
}

MemoryPlotResult draw_memory_plot(const MemoryPlot& plot, SharedTime& time, PlotEdges& edges,
                                  const Theme& theme, view::StackedMemory& scratch) {
  MemoryPlotResult result;
  const float top = ImGui::GetCursorPosY();
  draw_title(plot, edges, theme);
  AlignedPlot aligned(edges);
  if (!ImPlot::BeginPlot(("##" + plot.track.title).c_str(),
                         {aligned.width(), plot.height - (ImGui::GetCursorPosY() - top)},
                         ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoFrame |
                             ImPlotFlags_NoMenus | ImPlotFlags_NoMouseText | ImPlotFlags_NoBoxSelect))
    return result;
  time.set_up_axis(aligned.label_room());
  set_up_byte_axis(plot.top, plot.height - 3 * ImGui::GetFontSize(),
                   plot.track.begins_unknown ? ByteAxis::above_unknown : ByteAxis::from_zero);
  ImPlot::SetupFinish();
  aligned.measure();
  const ImPlotRect limits = ImPlot::GetPlotLimits();
  const view::TimeScale scale{limits.X.Min, limits.X.Max, static_cast<double>(ImPlot::GetPlotSize().x)};
  stack_memory(plot.track, scale, k_pixels_per_column, scratch);
  ImPlot::PushPlotClipRect();
  draw_stack(plot, scratch, theme);
  draw_chosen(plot, theme);
  ImPlot::PopPlotClipRect();
  draw_marks(plot, theme);
  result.min = ImPlot::GetPlotPos();
  result.max = {result.min.x + ImPlot::GetPlotSize().x, result.min.y + ImPlot::GetPlotSize().y};
  if (ImPlot::IsPlotHovered()) result.pointed = sample_at(plot.track, ImPlot::GetPlotMousePos().x);
  if (result.pointed) {
    tooltip(plot, *result.pointed, theme);
    const ImVec2 moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    result.clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
                     std::abs(moved.x) + std::abs(moved.y) < theme.scaled(4);
    result.asked = is_why_asked();
  }
  ImPlot::EndPlot();
  return result;
}

}  // namespace shardlab::gui

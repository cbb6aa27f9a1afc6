#include "gui/panels/timeline/track_drawing.h"

#include <implot.h>

#include <algorithm>
#include <cmath>

namespace shardlab::gui {
namespace {

struct RowBox {
  float top, bottom;
};

RowBox row_box(int row) {
  const double y = row;
  return {std::floor(ImPlot::PlotToPixels(0.0, y + 0.12).y),
          std::floor(ImPlot::PlotToPixels(0.0, y + 0.9).y)};
}

RowBox row_of_lane(const TrackPlace& place, std::size_t lane) {
  return row_box(place.title_row + rows_above_lanes(place.track) + static_cast<int>(lane));
}

ImU32 colour_of_span(const TrackPlace& place, const view::DrawnSpan& span, const Theme& theme) {
  ImU32 colour = theme.dimmed;
  if (place.colours == SpanColours::kind) {
    colour = colour_of(theme, place.run.plan().instruction(span.instruction).kind);
  } else if (span.colour > 0) {
    colour = theme.series[(span.colour - 1U) % theme.series.size()];
  }
  return faded(colour, (span.skipped ? 0.3F : 0.9F) * place.opacity);
}

// A label only where it fits: in full, else in few letters.
void draw_label(ImDrawList& list, const TrackPlace& place, const view::DrawnSpan& span, ImVec2 min,
                ImVec2 max, ImU32 colour, const Theme& theme) {
  if (span.count > 1 || max.x - min.x < theme.scaled(34)) return;
  const float size = std::min(theme.scaled(k_small_size), max.y - min.y);
  const float room = max.x - min.x - theme.scaled(8);
  const auto size_of = [&](const std::string& text) {
    return theme.fonts.text->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
  };
  std::string label = place.run.words().instruction(span.instruction);
  ImVec2 wide = size_of(label);
  if (wide.x > room) {
    label = place.run.words().brief(span.instruction);
    wide = size_of(label);
  }
  if (wide.x > room) return;
  list.AddText(theme.fonts.text, size, {min.x + theme.scaled(4), min.y + (max.y - min.y - wide.y) / 2},
               faded(text_on(colour), place.opacity), label.c_str());
}

void draw_lanes(ImDrawList& list, const TrackPlace& place, const view::TimeScale& scale, const Theme& theme,
                std::vector<view::DrawnSpan>& drawn) {
  const float left = ImPlot::GetPlotPos().x;
  for (std::size_t i = 0; i < place.track.lanes.size(); ++i) {
    const RowBox box = row_of_lane(place, i);
    draw_lane(place.track.lanes[i], scale, drawn);
    for (const view::DrawnSpan& span : drawn) {
      const ImVec2 min(left + span.x0, box.top), max(left + span.x1, box.bottom);
      const ImU32 colour = colour_of_span(place, span, theme);
      // A gap of a pixel keeps neighbours of one colour apart.
      const float gap = max.x - min.x > 3 ? 1.0F : 0.0F;
      list.AddRectFilled(min, {max.x - gap, max.y}, colour,
                         max.x - min.x > theme.scaled(10) ? theme.scaled(2) : 0);
      draw_label(list, place, span, min, max, colour, theme);
    }
  }
}

ImU32 colour_of_part(const view::StepPart& part, const Theme& theme) {
  if (part.teachers) return theme.series[5];
  switch (part.phase) {
    case StepPhase::forward: return colour_of(theme, InstructionKind::Forward);
    case StepPhase::backward: return colour_of(theme, InstructionKind::Backward);
    case StepPhase::optimizer: break;
  }
  return colour_of(theme, InstructionKind::OptimizerStep);
}

// Forward, backward, optimizer and micro-batches as bands above the lanes. Narrow ones are drawn as one.
void draw_parts(ImDrawList& list, const TrackPlace& place, const view::TimeScale& scale, const Theme& theme) {
  if (place.track.parts.size() < 2) return;
  const RowBox box = row_box(place.title_row + 1);
  const float left = ImPlot::GetPlotPos().x, height = std::min(box.bottom - box.top, theme.scaled(20));
  const int micro_batches = place.run.plan().micro_batches;
  float drawn_to = -1;
  for (const view::StepPart& part : place.track.parts) {
    const double x0 = scale.pixel(part.begin), x1 = std::max(scale.pixel(part.end), x0 + 1);
    if (x1 < 0 || x0 > scale.width || x1 <= drawn_to) continue;
    const float from = std::max(static_cast<float>(std::max(x0, 0.0)), drawn_to);
    drawn_to = static_cast<float>(std::min(x1, scale.width));
    const ImVec2 min{left + from, box.bottom - height}, max{left + drawn_to, box.bottom};
    const ImU32 colour = colour_of_part(part, theme);
    list.AddRectFilled(min, {max.x - (max.x - min.x > 3 ? 1.0F : 0.0F), max.y},
                       faded(colour, 0.3F * place.opacity), theme.scaled(2));
    const float size = std::min(theme.scaled(k_small_size), height);
    for (const std::string& text : {to_words(part, micro_batches), brief(part, micro_batches)}) {
      const ImVec2 wide = theme.fonts.text->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
      if (wide.x + theme.scaled(8) > max.x - min.x) continue;
      list.AddText(theme.fonts.text, size, {min.x + theme.scaled(4), min.y + (height - wide.y) / 2},
                   faded(theme.text, place.opacity), text.c_str());
      break;
    }
  }
}

// Above the compute lane, which is the first: where it stood still for communication.
void draw_exposed(ImDrawList& list, const TrackPlace& place, const view::TimeScale& scale,
                  const Theme& theme) {
  const float left = ImPlot::GetPlotPos().x;
  const float bottom = row_of_lane(place, 0).top, top = bottom - theme.scaled(4);
  float drawn_to = -1;
  for (const TimeInterval& each : place.track.exposed) {
    const double x0 = scale.pixel(each.begin), x1 = std::max(scale.pixel(each.end), x0 + 1);
    if (x1 < 0 || x0 > scale.width || x1 <= drawn_to) continue;
    const float from = std::max(static_cast<float>(std::max(x0, 0.0)), drawn_to);
    drawn_to = static_cast<float>(std::min(x1, scale.width));
    list.AddRectFilled({left + from, top}, {left + drawn_to, bottom}, faded(theme.bad, place.opacity));
  }
}

ImVec2 lane_point(const TrackPlace& place, const view::TimeScale& scale, std::uint32_t lane,
                  Nanoseconds time) {
  const RowBox box = row_of_lane(place, lane);
  return {ImPlot::GetPlotPos().x + static_cast<float>(scale.pixel(time)), (box.top + box.bottom) / 2};
}

void draw_chosen(ImDrawList& list, const TrackPlace& place, const view::TimeScale& scale,
                 const Theme& theme) {
  if (!place.chosen) return;
  for (const view::WaitArrow& arrow : wait_arrows(place.run.plan(), place.track, *place.chosen)) {
    const ImVec2 from = lane_point(place, scale, arrow.from_lane, arrow.from_time);
    const ImVec2 to = lane_point(place, scale, arrow.to_lane, arrow.to_time);
    const float bend = std::max(theme.scaled(12), std::abs(to.x - from.x) / 3);
    const ImU32 colour = arrow.decisive ? theme.text : theme.dimmed;
    list.AddBezierCubic(from, {from.x + bend, from.y}, {to.x - bend, to.y}, to, colour,
                        theme.scaled(arrow.decisive ? 2 : 1));
    list.AddTriangleFilled(to, {to.x - theme.scaled(6), to.y - theme.scaled(4)},
                           {to.x - theme.scaled(6), to.y + theme.scaled(4)}, colour);
  }
  const auto& at = place.track.place_of[place.chosen->index()];
  if (!at) {
    // Takes no device time: a line where the host issued it.
    const Nanoseconds issue = place.track.issue_of[place.chosen->index()];
    if (issue.value < 0) return;
    const float x = ImPlot::GetPlotPos().x + static_cast<float>(scale.pixel(issue));
    list.AddLine({x, row_of_lane(place, 0).top},
                 {x, row_box(place.title_row + rows_of(place.track) - 1).bottom}, theme.text,
                 theme.scaled(1));
    return;
  }
  const view::LaneSpan& span = place.track.lanes[at->lane].spans[at->span];
  const RowBox box = row_of_lane(place, at->lane);
  const float left = ImPlot::GetPlotPos().x + static_cast<float>(scale.pixel(span.begin));
  const float right =
      std::max(ImPlot::GetPlotPos().x + static_cast<float>(scale.pixel(span.end)), left + theme.scaled(3));
  list.AddRect({left - 1, box.top - 1}, {right + 1, box.bottom + 1}, theme.text, theme.scaled(2), 0,
               theme.scaled(2));
}

}  // namespace

void draw_track(const TrackPlace& place, const view::TimeScale& scale, const Theme& theme,
                std::vector<view::DrawnSpan>& scratch) {
  ImDrawList& list = *ImPlot::GetPlotDrawList();
  ImPlot::PushPlotClipRect();
  const RowBox title = row_box(place.title_row);
  list.AddText(theme.fonts.bold, theme.scaled(k_text_size),
               {ImPlot::GetPlotPos().x + theme.scaled(6), title.bottom - theme.scaled(k_text_size + 4)},
               faded(theme.text, place.opacity), place.track.title.c_str());
  draw_parts(list, place, scale, theme);
  draw_lanes(list, place, scale, theme, scratch);
  draw_exposed(list, place, scale, theme);
  draw_chosen(list, place, scale, theme);
  ImPlot::PopPlotClipRect();
}

}  // namespace shardlab::gui

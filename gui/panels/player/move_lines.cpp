#include "gui/panels/player/move_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

// Amounts beside what moves can be read with so many columns at most.
constexpr std::size_t k_columns_with_amounts = 3;
// With more of them lines are finer.
constexpr std::size_t k_columns_with_room = 4;

ImU32 colour_of_lane(const view::RankLane& lane, const Theme& theme) {
  return lane.folded ? theme.dimmed
                     : theme.series[static_cast<std::size_t>(lane.first) % theme.series.size()];
}

void draw_heading(const Box& column, float top, const std::string& title, const std::string& sent,
                  ImU32 colour, const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight(), square = theme.scaled(9);
  list.PushClipRect({column.min.x, top}, {column.max.x, column.min.y}, true);
  const float above = top + (line - square) / 2;
  list.AddRectFilled({column.min.x, above}, {column.min.x + square, above + square}, colour, theme.scaled(2));
  const float left = column.min.x + square + theme.scaled(5);
  list.AddText(theme.fonts.bold, theme.scaled(k_small_size), {left, top}, theme.text, title.c_str());
  list.AddText(theme.fonts.text, theme.scaled(k_small_size), {column.min.x, top + line}, theme.dimmed,
               sent.c_str());
  list.PopClipRect();
  named_area(title.c_str(), {column.min.x, top}, column.max);
}

// A line that leaves to the right lies above one that leaves to the left, so that both are seen.
struct Curve {
  ImVec2 from, before, behind, to;

  // The cubic Bezier curve that these four points give.
  ImVec2 at(float t) const {
    const float u = 1 - t, a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
    return {a * from.x + b * before.x + c * behind.x + d * to.x,
            a * from.y + b * before.y + c * behind.y + d * to.y};
  }
};

Curve curve(ImVec2 from, ImVec2 to, const Theme& theme) {
  const float across = to.x - from.x;
  const float lift = (across > 0 ? -1.0F : 1.0F) * (theme.scaled(12) + std::fabs(across) * 0.06F);
  return {from, {from.x + across * 0.3F, from.y + lift}, {to.x - across * 0.3F, to.y + lift}, to};
}

// Where moves of a collective begin and end.
class MoveEnds {
 public:
  MoveEnds(const StepPlan& plan, const view::BoardFrame& frame, const ShelfPlaces& places,
           const BoxesOfLanes& boxes)
      : plan_(plan), frame_(frame), places_(places), boxes_(boxes) {}

  std::optional<ImVec2> of(int lane, BufferId buffer, const view::LaneMove& move) const {
    const auto index = static_cast<std::size_t>(lane);
    const auto shelf = places_.shelf(index, plan_.buffer(buffer).buffer_class);
    if (!shelf) return std::nullopt;
    if (frame_.lanes[index].lane.folded) return shelf->centre();
    for (std::size_t i = 0; i < boxes_[index].size(); ++i) {
      if (frame_.buffers.buffers[i].buffer != buffer) continue;
      const int parts = frame_.lanes[index].contents[i].parts;
      return (move.part && parts > 1 ? boxes_[index][i].part(*move.part, parts) : boxes_[index][i]).centre();
    }
    return ImVec2{shelf->min.x, shelf->centre().y};
  }

 private:
  const StepPlan& plan_;
  const view::BoardFrame& frame_;
  const ShelfPlaces& places_;
  const BoxesOfLanes& boxes_;
};

void draw_amount(ImVec2 at, Bytes bytes, const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string text = to_string(bytes);
  const float size = theme.scaled(k_small_size), edge = theme.scaled(2);
  const ImVec2 extent = theme.fonts.text->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
  const ImVec2 min{at.x - extent.x / 2, at.y - extent.y - theme.scaled(7)};
  list.AddRectFilled({min.x - edge, min.y}, {min.x + extent.x + edge, min.y + extent.y}, theme.panel,
                     theme.scaled(2));
  list.AddText(theme.fonts.text, size, min, theme.text, text.c_str());
}

void draw_flow(const view::LaneFlow& flow, const Curve& curve, ImU32 colour, std::size_t columns,
               const Theme& theme) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool has_room = columns <= k_columns_with_room;
  list.AddBezierCubic(curve.from, curve.before, curve.behind, curve.to, faded(colour, has_room ? 0.6F : 0.4F),
                      std::max(theme.scaled(has_room ? 1.5F : 1), 1.0F));
  const ImVec2 at = curve.at(static_cast<float>(flow.progress));
  const float half = theme.scaled(flow.progress < 1 && has_room ? 5 : 3);
  list.AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour, theme.scaled(2));
  list.AddRect({at.x - half, at.y - half}, {at.x + half, at.y + half}, theme.panel, theme.scaled(2));
  if (columns <= k_columns_with_amounts) draw_amount(curve.at(0.5F), flow.arrived, theme);
}

// The stage whose moves are under way, or were last.
int stage_of(const view::BoardFrame& frame) {
  int stage = 0;
  for (const view::LaneFlow& flow : frame.flows) {
    if (flow.progress > 0) stage = std::max(stage, flow.move.stage);
  }
  return stage;
}

}  // namespace

void draw_headings(const view::BoardFrame& frame, const ShelfPlaces& places, const Theme& theme) {
  if (!places.has_heading()) return;
  const Box& heading = places.heading();
  for (std::size_t i = 0; i < frame.lanes.size(); ++i)
    draw_heading(places.columns()[i], heading.min.y, title_of(frame.lanes[i].lane),
                 "sent " + to_string(frame.lanes[i].sent), colour_of_lane(frame.lanes[i].lane, theme), theme);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::string total = fmt::format("{} of {}", to_string(frame.sent), to_string(frame.sent_in_step));
  list.AddText(theme.fonts.text, theme.scaled(k_small_size), heading.min, theme.dimmed, "all ranks sent");
  list.AddText(theme.fonts.text, theme.scaled(k_small_size),
               {heading.min.x, heading.min.y + ImGui::GetTextLineHeight()}, theme.text, total.c_str());
}

void draw_moves(const StepPlan& plan, const view::BoardFrame& frame, const ShelfPlaces& places,
                const BoxesOfLanes& boxes, const Theme& theme) {
  if (frame.flows.empty() || !frame.buffers.instruction) return;
  const Instruction& instruction = plan.instruction(*frame.buffers.instruction);
  if (instruction.reads.empty() || instruction.writes.empty()) return;
  const MoveEnds ends(plan, frame, places, boxes);
  const int stage = stage_of(frame);
  for (const view::LaneFlow& flow : frame.flows) {
    if (flow.move.stage != stage || flow.move.from == flow.move.to) continue;
    const auto from = ends.of(flow.move.from, instruction.reads.front(), flow.move);
    const auto to = ends.of(flow.move.to, instruction.writes.front(), flow.move);
    if (!from || !to) continue;
    const int owner = flow.move.adds ? flow.move.to : flow.move.from;
    const ImU32 colour = colour_of_lane(frame.lanes[static_cast<std::size_t>(owner)].lane, theme);
    draw_flow(flow, curve(*from, *to, theme), colour, frame.lanes.size(), theme);
  }
}

}  // namespace shardlab::gui

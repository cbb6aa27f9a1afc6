#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "engine/pictures/svg.h"
#include "engine/pictures/timeline_picture.h"

namespace shardlab {
namespace {

constexpr double k_timeline_width = 900, k_left = 120, k_right = 10, k_above = 24, k_lane = 28, k_gap = 6,
                 k_below = 62;
constexpr double k_narrow = 0.7;
constexpr double k_letter = 6.6;  // wide, at the size of the text

struct TimeAxis {
  const TimelinePicture& picture;
  double x(Nanoseconds time) const {
    const auto whole = static_cast<double>((picture.end - picture.begin).value);
    return k_left +
           (k_timeline_width - k_left - k_right) * static_cast<double>((time - picture.begin).value) / whole;
  }
};

std::string span_words(const StepPlan& plan, const LaneSpan& span) {
  return fmt::format("{}: {}", instruction_label(plan, span.instruction), to_string(span.end - span.begin));
}

// What fits into a span: its label without the number, or its letter, or nothing.
std::string span_label(const StepPlan& plan, const LaneSpan& span, double wide) {
  const std::string label = instruction_label(plan, span.instruction);
  const std::string name = label.substr(label.find(' ') + 1);
  if (k_letter * static_cast<double>(name.size()) + 6 < wide) return name;
  return wide > 14 ? std::string(1, look_of(span.kind).letter) : "";
}

std::string lane_svg(const StepPlan& plan, const TimelinePicture& picture, const PictureLane& lane, double y,
                     bool host) {
  const TimeAxis axis{picture};
  std::string svg = svg_text(k_left - 8, y + k_lane / 2 + 5, lane.name, "end");
  svg += svg_rect({k_left, y, k_timeline_width - k_left - k_right, k_lane}, "#f2f2f5");
  for (std::size_t i = 0; i < lane.spans.size(); ++i) {
    const LaneSpan& span = lane.spans[i];
    const char* const colour =
        host && span.kind != InstructionKind::HostWait ? "#6b6b75" : look_of(span.kind).colour;
    double end = axis.x(span.end);
    const double begin = axis.x(span.begin);
    std::size_t last = i;
    // What cannot be told apart is drawn once.
    while (end - begin < k_narrow && last + 1 < lane.spans.size() && lane.spans[last + 1].kind == span.kind &&
           axis.x(lane.spans[last + 1].end) - begin < k_narrow)
      end = axis.x(lane.spans[++last].end);
    i = last;
    svg += svg_rect({begin, y, std::max(end - begin, 0.35), k_lane}, colour, span_words(plan, span));
    const std::string label = host ? "" : span_label(plan, span, end - begin);
    if (!label.empty()) svg += svg_text((begin + end) / 2, y + k_lane / 2 + 5, label, "middle", "#ffffff");
    if (picture.chosen == span.instruction)
      svg += svg_rect({begin, y - 3, std::max(end - begin, 2.0), 3}, "#111111");
  }
  return svg;
}

std::string kinds_svg(const TimelinePicture& picture, double y) {
  std::map<std::string, const char*> kinds;
  for (const PictureLane& lane : picture.lanes) {
    if (lane.is_host) continue;
    for (const LaneSpan& span : lane.spans) kinds[look_of(span.kind).name] = look_of(span.kind).colour;
  }
  if (!picture.exposed.empty()) kinds["compute waits for communication"] = "#d62728";
  std::string svg;
  double x = k_left;
  for (const auto& [name, colour] : kinds) {
    const double wide = 26 + 6.8 * static_cast<double>(name.size());
    if (x + wide > k_timeline_width) x = k_left, y += 20;
    svg += svg_rect({x, y, 12, 12}, colour) + svg_text(x + 17, y + 11, name);
    x += wide;
  }
  return svg;
}

}  // namespace

std::string timeline_svg(const StepPlan& plan, const TimelinePicture& picture, const std::string& title) {
  const TimeAxis axis{picture};
  std::string svg = svg_text(k_left, 15, title);
  double y = k_above;
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const bool host = picture.lanes[i].is_host;
    svg += lane_svg(plan, picture, picture.lanes[i], y, host);
    // Where compute stands still is marked above it.
    if (i == 1 || (i == 0 && !host)) {
      for (const TimeInterval& interval : picture.exposed)
        svg += svg_rect(
            {axis.x(interval.begin), y - 4, std::max(axis.x(interval.end) - axis.x(interval.begin), 0.5), 4},
            "#d62728", "compute waits: " + to_string(interval.end - interval.begin));
    }
    y += k_lane + k_gap;
  }
  svg += svg_text(k_left, y + 12, "0") +
         svg_text(k_timeline_width - k_right, y + 12, to_string(picture.end - picture.begin), "end");
  svg += kinds_svg(picture, y + 20);
  return svg_document(k_timeline_width, y + k_below, title, svg);
}

}  // namespace shardlab

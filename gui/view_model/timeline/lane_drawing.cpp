#include "gui/view_model/timeline/lane_drawing.h"

#include <algorithm>

namespace shardlab::view {
namespace {

constexpr double k_pixel = 1;

// Spans below a pixel that begin within the same pixel.
struct Merged {
  double x0 = 0;
  double x1 = 0;
  DrawnSpan span{};
  std::uint32_t count = 0;
  Nanoseconds longest{-1};

  bool takes(double begin) const { return count > 0 && begin < x0 + k_pixel; }
  void add(const LaneSpan& each, double begin, double end) {
    if (count == 0) x0 = x1 = begin;
    x1 = std::max(x1, end);
    ++count;
    if (each.end - each.begin <= longest) return;
    longest = each.end - each.begin;
    span.instruction = each.instruction;
    span.colour = each.colour;
    span.skipped = each.skipped;
  }
  void flush(std::vector<DrawnSpan>& drawn, double width) {
    if (count == 0) return;
    span.x0 = static_cast<float>(std::clamp(x0, 0.0, width));
    span.x1 = static_cast<float>(std::max(std::min(x1, width), static_cast<double>(span.x0) + k_pixel));
    span.count = count;
    drawn.push_back(span);
    *this = Merged{};
  }
};

}  // namespace

void draw_lane(const Lane& lane, const TimeScale& scale, std::vector<DrawnSpan>& drawn) {
  drawn.clear();
  const double ratio = scale.pixels_per_ns();
  const auto first = std::partition_point(lane.reaches.begin(), lane.reaches.end(), [&](Nanoseconds reach) {
    return static_cast<double>(reach.value) < scale.from;
  });
  Merged merged;
  for (auto i = static_cast<std::size_t>(first - lane.reaches.begin()); i < lane.spans.size(); ++i) {
    const LaneSpan& span = lane.spans[i];
    if (static_cast<double>(span.begin.value) > scale.to) break;
    if (static_cast<double>(span.end.value) < scale.from) continue;
    const double begin = (static_cast<double>(span.begin.value) - scale.from) * ratio;
    const double end = (static_cast<double>(span.end.value) - scale.from) * ratio;
    if (!merged.takes(begin)) merged.flush(drawn, scale.width);
    if (end - begin < k_pixel) {
      merged.add(span, begin, end);
      continue;
    }
    merged.flush(drawn, scale.width);
    drawn.push_back({static_cast<float>(std::max(begin, 0.0)),
                     static_cast<float>(std::max(std::min(end, scale.width), std::max(begin, 0.0) + k_pixel)),
                     span.instruction, 1, span.colour, span.skipped});
  }
  merged.flush(drawn, scale.width);
}

}  // namespace shardlab::view

#include <algorithm>

#include <fmt/format.h>

#include "engine/pictures/memory_picture.h"
#include "engine/pictures/svg.h"

namespace shardlab {
namespace {

constexpr double k_memory_width = 900, k_plot_left = 80, k_plot_right = 10, k_above_plot = 24, k_plot = 240,
                 k_below_plot = 70;

struct Frame {
  const MemoryPicture& picture;
  double column;  // wide

  double x(std::size_t c) const { return k_plot_left + column * static_cast<double>(c); }
  double height(Bytes bytes) const {
    return k_plot * static_cast<double>(bytes.value) / static_cast<double>(picture.top.value);
  }
};

std::string columns_svg(const Frame& frame) {
  std::string svg;
  for (std::size_t c = 0; c < frame.picture.columns.size(); ++c) {
    const MemoryColumn& column = frame.picture.columns[c];
    double y = k_above_plot + k_plot;
    for (std::size_t g = 0; g < k_memory_groups; ++g) {
      if (column.bytes[g].value <= 0) continue;
      const double height = frame.height(column.bytes[g]);
      y -= height;
      const auto group = static_cast<MemoryGroup>(g);
      svg += svg_rect(
          {frame.x(c), y, frame.column + 0.3, height}, colour_of(group),
          fmt::format("{}: {} of {}", to_string(group), to_string(column.bytes[g]), to_string(column.total)));
    }
  }
  return svg;
}

std::string phases_svg(const Frame& frame) {
  std::string svg;
  const auto& columns = frame.picture.columns;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0 && columns[c - 1].phase == columns[c].phase) continue;
    std::size_t end = c;
    while (end < columns.size() && columns[end].phase == columns[c].phase) ++end;
    svg += svg_line(frame.x(c), k_above_plot + k_plot, frame.x(c), k_above_plot + k_plot + 18, "#8a8a92");
    if (frame.x(end) - frame.x(c) > 60)
      svg += svg_text(frame.x(c) + 5, k_above_plot + k_plot + 15, to_string(columns[c].phase));
  }
  return svg;
}

std::string legend_svg(const BytesByGroup& at_peak) {
  std::string svg;
  double x = k_plot_left;
  double y = k_above_plot + k_plot + 34;
  for (std::size_t g = 0; g < k_memory_groups; ++g) {
    if (at_peak[g].value == 0) continue;
    const auto group = static_cast<MemoryGroup>(g);
    const std::string text = fmt::format("{} {}", to_string(group), to_string(at_peak[g]));
    const double wide = 30 + 7.2 * static_cast<double>(text.size());
    if (x + wide > k_memory_width && x > k_plot_left) {
      x = k_plot_left;
      y += 20;
    }
    svg += svg_rect({x, y, 12, 12}, colour_of(group)) + svg_text(x + 17, y + 11, text);
    x += wide;
  }
  return svg;
}

}  // namespace

std::string memory_svg(const MemoryPicture& picture, const std::string& title) {
  if (picture.columns.empty())
    return svg_document(k_memory_width, 40, title, svg_text(10, 25, "no memory was recorded"));
  const Frame frame{
      picture, (k_memory_width - k_plot_left - k_plot_right) / static_cast<double>(picture.columns.size())};
  const double bottom = k_above_plot + k_plot;
  std::string svg = svg_text(k_plot_left, 15, title);
  svg += svg_text(k_plot_left - 6, k_above_plot + 12, to_string(picture.top), "end");
  svg += svg_text(k_plot_left - 6, bottom, "0 B", "end");
  svg += columns_svg(frame);
  svg += svg_line(k_plot_left, bottom, k_memory_width - k_plot_right, bottom, "#3b3b41");
  if (picture.limit && *picture.limit <= picture.top) {
    const double y = bottom - frame.height(*picture.limit);
    svg += svg_line(k_plot_left, y, k_memory_width - k_plot_right, y, "#d62728", true);
    svg += svg_text(k_plot_left - 6, y + 4, "limit", "end", "#d62728");
  }
  const double peak = frame.x(picture.peak) + frame.column / 2;
  const double top = bottom - frame.height(picture.columns[picture.peak].total);
  svg += svg_line(peak, top - 8, peak, bottom, "#3b3b41");
  if (picture.chosen && *picture.chosen != picture.peak) {
    const double x = frame.x(*picture.chosen) + frame.column / 2;
    svg += svg_line(x, k_above_plot, x, bottom, "#3b3b41", true);
  }
  svg += phases_svg(frame) + legend_svg(picture.columns[picture.peak].bytes);
  return svg_document(k_memory_width, k_above_plot + k_plot + k_below_plot, title, svg);
}

}  // namespace shardlab

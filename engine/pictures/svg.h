// SVG elements as text, everything escaped. Lengths are in units of the view box.
#pragma once

#include <string>
#include <string_view>

namespace shardlab {

struct SvgBox {
  double x = 0, y = 0, width = 0, height = 0;
};

std::string svg_rect(const SvgBox& box, std::string_view colour, std::string_view tooltip = {});
// `anchor`: start, middle or end.
std::string svg_text(double x, double y, std::string_view text, std::string_view anchor = "start",
                     std::string_view colour = "#3b3b41");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view colour,
                     bool dashed = false);
std::string svg_arrow(double x1, double y1, double x2, double y2, std::string_view colour);

// The whole element: as wide as its place, with a title for those who do not see it.
std::string svg_document(double width, double height, std::string_view title, std::string_view elements);

// Text for XML.
std::string escaped_xml(std::string_view text);

}  // namespace shardlab

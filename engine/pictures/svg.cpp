#include "engine/pictures/svg.h"

#include <cmath>

#include <fmt/format.h>

namespace shardlab {

std::string escaped_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string svg_rect(const SvgBox& box, std::string_view colour, std::string_view tooltip) {
  const std::string head =
      fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}")", box.x, box.y,
                  box.width, box.height, colour);
  if (tooltip.empty()) return head + "/>\n";
  return head + "><title>" + escaped_xml(tooltip) + "</title></rect>\n";
}

std::string svg_text(double x, double y, std::string_view text, std::string_view anchor,
                     std::string_view colour) {
  return fmt::format(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="{}" fill="{}">{}</text>)", x, y, anchor,
                     colour, escaped_xml(text)) +
         "\n";
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view colour, bool dashed) {
  return fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" stroke="{}"{}/>)", x1, y1, x2,
                     y2, colour, dashed ? R"( stroke-dasharray="6 4" stroke-width="2")" : "") +
         "\n";
}

std::string svg_arrow(double x1, double y1, double x2, double y2, std::string_view colour) {
  constexpr double k_head = 7;
  const double length = std::hypot(x2 - x1, y2 - y1);
  if (length == 0) return {};
  const double ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  return svg_line(x1, y1, x2 - ux * k_head, y2 - uy * k_head, colour) +
         fmt::format(R"(<polygon points="{:.2f},{:.2f} {:.2f},{:.2f} {:.2f},{:.2f}" fill="{}"/>)", x2, y2,
                     x2 - ux * k_head - uy * k_head / 2, y2 - uy * k_head + ux * k_head / 2,
                     x2 - ux * k_head + uy * k_head / 2, y2 - uy * k_head - ux * k_head / 2, colour) +
         "\n";
}

std::string svg_document(double width, double height, std::string_view title, std::string_view elements) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" role="img" font-size="13" font-family="sans-serif">)"
      "\n<title>{}</title>\n{}</svg>\n",
      width, height, escaped_xml(title), elements);
}

}  // namespace shardlab

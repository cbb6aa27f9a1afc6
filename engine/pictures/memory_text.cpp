#include <algorithm>

#include <fmt/format.h>

#include "engine/pictures/memory_picture.h"

namespace shardlab {
namespace {

// The letter at a height of a column: of the group that fills the middle of the row.
char letter_at(const MemoryColumn& column, double height) {
  double below = 0;
  for (std::size_t g = 0; g < k_memory_groups; ++g) {
    below += static_cast<double>(column.bytes[g].value);
    if (height < below) return letter_of(static_cast<MemoryGroup>(g));
  }
  return ' ';
}

std::string phase_line(const MemoryPicture& picture) {
  std::string line(picture.columns.size(), ' ');
  for (std::size_t c = 0; c < picture.columns.size(); ++c) {
    const StepPhase phase = picture.columns[c].phase;
    if (c > 0 && picture.columns[c - 1].phase == phase) continue;
    std::size_t end = c;
    while (end < picture.columns.size() && picture.columns[end].phase == phase) ++end;
    const std::string_view name = to_string(phase);
    // A short phase is named by its beginning, a very short one by a bar.
    const std::size_t room = end - c;
    line.replace(c, room, std::string(room, ' '));
    line[c] = '|';
    if (room > 4) line.replace(c + 1, std::min(name.size(), room - 1), name.substr(0, room - 1));
  }
  return line;
}

std::string mark_line(const MemoryPicture& picture) {
  std::string line(picture.columns.size(), ' ');
  line[picture.peak] = '^';
  std::string text = "^ highest";
  if (picture.chosen && *picture.chosen != picture.peak) {
    line[*picture.chosen] = '*';
    text += ", * here";
  }
  return line + "  " + text;
}

}  // namespace

std::string memory_text(const MemoryPicture& picture, int rows) {
  if (picture.columns.empty()) return "  no memory was recorded\n";
  std::string text;
  const auto top = static_cast<double>(picture.top.value);
  const double limit = picture.limit ? static_cast<double>(picture.limit->value) : 2 * top;
  const std::string axis = to_string(picture.top);
  const int margin = std::max<int>(static_cast<int>(axis.size()), 8);
  for (int r = rows - 1; r >= 0; --r) {
    const double low = top * r / rows, high = top * (r + 1) / rows;
    const bool holds_limit = limit >= low && limit < high;
    const std::string label = r == rows - 1 ? axis : holds_limit ? "limit" : "";
    std::string line;
    for (const MemoryColumn& column : picture.columns) {
      const char letter = letter_at(column, (low + high) / 2);
      line += letter == ' ' && holds_limit ? '-' : letter;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += fmt::format("  {:>{}} |{}\n", label, margin, line);
  }
  text += fmt::format("  {:>{}} +{}\n", "0 B", margin, std::string(picture.columns.size(), '-'));
  text += fmt::format("  {:>{}}  {}\n", "", margin, phase_line(picture));
  text += fmt::format("  {:>{}}  {}\n", "", margin, mark_line(picture));
  const MemoryColumn& peak = picture.columns[picture.peak];
  text += fmt::format("  {:>{}}  at the highest, {} in all:\n", "", margin, to_string(peak.total));
  for (std::size_t g = 0; g < k_memory_groups; ++g) {
    if (peak.bytes[g].value == 0) continue;
    text += fmt::format("  {:>{}}    {} {:<15}  {:>9}\n", "", margin, letter_of(static_cast<MemoryGroup>(g)),
                        to_string(static_cast<MemoryGroup>(g)), to_string(peak.bytes[g]));
  }
  return text;
}

}  // namespace shardlab

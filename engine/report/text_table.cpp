#include "engine/report/text_table.h"

#include <algorithm>

#include "engine/base/text/colours.h"
#include "engine/base/text/printable.h"

namespace shardlab {
namespace {

constexpr int k_gap = 2;
constexpr int k_left_out = -1;
constexpr std::string_view k_cut = "..";

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// At most `width` columns, the end marked where something is missing.
std::string cut(const std::string& text, int width) {
  if (display_width(text) <= width) return text;
  const int kept = std::max(0, width - static_cast<int>(k_cut.size()));
  std::size_t end = 0;
  for (int columns = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && columns++ == kept) break;
  }
  return text.substr(0, end) + std::string(k_cut.substr(0, static_cast<std::size_t>(std::min(width, 2))));
}

// Columns of a line.
int taken(const std::vector<int>& widths) {
  int sum = -k_gap;
  for (const int width : widths) {
    if (width != k_left_out) sum += width + k_gap;
  }
  return sum;
}

// The number of columns when none may go any more.
std::size_t first_to_drop(const std::vector<TableColumn>& columns, const std::vector<int>& widths) {
  std::size_t first = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].drop == 0 || widths[i] == k_left_out) continue;
    if (first == columns.size() || columns[i].drop < columns[first].drop) first = i;
  }
  return first;
}

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::good: return colours::k_green;
    case Tone::fair: return colours::k_yellow;
    case Tone::bad: return colours::k_red;
    case Tone::faint: return colours::k_weak;
    case Tone::plain: break;
  }
  return "";
}

}  // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string painted(std::string text, Tone tone, const TextStyle& style) {
  if (!style.colour || tone == Tone::plain || text.empty()) return text;
  return std::string(escape_of(tone)) + printable(text) + std::string(colours::k_off);
}

TextTable::TextTable(std::vector<TableColumn> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {}

void TextTable::add(std::vector<TableCell> cells) {
  cells.resize(columns_.size(), TableCell(""));
  for (TableCell& cell : cells) {
    std::replace_if(
        cell.text.begin(), cell.text.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    if (!is_printable(cell.text)) cell.text = printable(cell.text);
  }
  rows_.push_back(std::move(cells));
}

std::vector<int> TextTable::widths(int available) const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  std::vector<int> least = widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].elastic) least[i] = std::min(widths[i], columns_[i].least);
  }
  const int room = available - display_width(indent_);
  while (taken(least) > room) {
    const std::size_t dropped = first_to_drop(columns_, least);
    if (dropped == columns_.size()) break;
    widths[dropped] = least[dropped] = k_left_out;
  }
  for (int surplus = taken(widths) - room; surplus > 0;
       --surplus) {  // from the widest that can give, one by one
    int* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] > least[i] && (!widest || widths[i] > *widest)) widest = &widths[i];
    }
    if (!widest) break;
    --*widest;
  }
  return widths;
}

std::string TextTable::line(const std::vector<TableCell>& cells, const std::vector<int>& widths,
                            const TextStyle& style) const {
  std::string line = indent_;
  std::size_t pending = 0;  // blanks, written only before more text, so that no line ends in them
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == k_left_out) continue;
    const std::string text = columns_[i].elastic ? cut(cells[i].text, widths[i]) : cells[i].text;
    const auto blanks = static_cast<std::size_t>(widths[i] - display_width(text));
    if (columns_[i].align == Align::right) pending += blanks;
    if (!text.empty()) {
      line.append(pending, ' ');
      line += painted(text, cells[i].tone, style);
      pending = 0;
    }
    if (columns_[i].align == Align::left) pending += blanks;
    pending += k_gap;
  }
  return line + '\n';
}

std::string TextTable::text(const TextStyle& style) const {
  const std::vector<int> column_widths = widths(style.width);
  std::string result;
  std::vector<TableCell> titles;
  bool any_title = false;
  for (const TableColumn& column : columns_) {
    titles.emplace_back(column.title, Tone::faint);
    any_title = any_title || !column.title.empty();
  }
  if (any_title) result += line(titles, column_widths, style);
  for (const auto& row : rows_) result += line(row, column_widths, style);
  return result;
}

}  // namespace shardlab

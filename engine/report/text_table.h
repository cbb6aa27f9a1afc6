// A table of text that fits a width: columns as wide as their content; where space runs out the texts in
// elastic columns are cut, then columns that may go are left out. What remains is not cut further, however
// narrow the width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/report/terminal.h"

namespace shardlab {

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::right;
  bool elastic = false;  // may be cut to `least`
  int least = 8;
  int drop = 0;  // 0: always shown; else left out for want of space, the lowest number first
};

enum class Tone { plain, good, fair, bad, faint };

struct TableCell {
  std::string text;
  Tone tone = Tone::plain;

  TableCell(std::string value, Tone its_tone = Tone::plain) : text(std::move(value)), tone(its_tone) {}
  TableCell(const char* value, Tone its_tone = Tone::plain) : text(value), tone(its_tone) {}
};

class TextTable {
 public:
  // A table without any title has no heading.
  explicit TextTable(std::vector<TableColumn> columns, std::string indent = "");

  // Missing cells at the end are empty; the surplus is dropped. Line breaks and tabs become spaces, other
  // control characters are escaped, so that columns are as wide as what is seen.
  void add(std::vector<TableCell> cells);

  bool empty() const { return rows_.empty(); }
  std::string text(const TextStyle& style) const;

 private:
  std::vector<int> widths(int available) const;  // by column; -1: left out
  std::string line(const std::vector<TableCell>& cells, const std::vector<int>& widths,
                   const TextStyle& style) const;

  std::vector<TableColumn> columns_;
  std::string indent_;
  std::vector<std::vector<TableCell>> rows_;
};

// The text in the colour of its tone, if colours are wanted; then it is printable.
std::string painted(std::string text, Tone tone, const TextStyle& style);

// Columns of a text on a terminal: code points of UTF-8, none of which is taken for double width.
int display_width(std::string_view text);

}  // namespace shardlab

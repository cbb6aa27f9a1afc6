// A table as every panel shows one: typed cells that sort, turn into CSV, say why they are what they are and
// lead to an instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "gui/view_model/why.h"

namespace shardlab::view {

// Errors of predictions: good below 5 %, fair below 12 %, bad above.
enum class CellTone { plain, good, fair, bad, faint };
CellTone tone_of_error(double error);

struct Cell {
  std::string text;                // for people, with its unit
  std::optional<double> number{};  // for sorting and CSV, in the column's unit
  CellTone tone = CellTone::plain;
};

Cell text_cell(std::string text, CellTone tone = CellTone::plain);
Cell time_cell(std::optional<Nanoseconds> time);  // number in ns; "-" when absent
Cell bytes_cell(std::optional<Bytes> bytes);      // number in bytes
Cell count_cell(std::int64_t count);              // "12,345"
Cell error_cell(std::optional<double> error);     // a fraction, shown as "+3.2 %"
Cell share_cell(std::optional<double> fraction);  // a fraction, shown as "3.2 %"

struct Column {
  std::string title;
  std::string unit{};  // of the numbers in CSV: "ns", "bytes"
  bool numeric = true;
  Meaning meaning{};  // of every number in it; a column of numbers has one
};

struct Row {
  std::vector<Cell> cells;
  std::optional<InstructionId> instruction{};  // that the row speaks of
  std::int64_t key = 0;                        // of whatever else it speaks of: a run
};

struct DataTable {
  std::string name;  // file name of its CSV, without the ending
  std::vector<Column> columns;
  std::vector<Row> rows;
  // Adds to the answer of why_cell() what only this cell knows: the numbers that went into it, who measured
  // it. Keeps alive what it needs. May be empty.
  std::function<void(const DataTable& table, std::size_t row, std::size_t column, Why& why)> explain{};
};

// Why a cell shows what it shows: the meaning of its column and what `explain` adds. Absent where there is no
// such cell, and in a column of texts without a meaning.
std::optional<Why> why_cell(const DataTable& table, std::size_t row, std::size_t column);

// A part whose number is that of a cell of the table.
WhyPart part_of(const DataTable& table, std::size_t row, std::size_t column);

// The order of the rows when sorted by a column: numbers by value, texts by bytes, absent ones last in either
// direction; equal ones keep their order. A column that does not exist leaves the order as it is.
std::vector<std::size_t> sorted_rows(const DataTable& table, std::size_t column, bool descending);

// RFC 4180. Titles carry the unit; numbers are written in full, without the shown text's rounding.
std::string to_csv(const DataTable& table);

}  // namespace shardlab::view

#include "gui/view_model/data_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/csv.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

constexpr double k_good_error = 0.05;
constexpr double k_fair_error = 0.12;

std::string number_text(double number) {
  return number == std::floor(number) && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                 : fmt::format("{}", number);
}

const Cell& cell_at(const DataTable& table, std::size_t row, std::size_t column) {
  static const Cell k_empty;
  const std::vector<Cell>& cells = table.rows[row].cells;
  return column < cells.size() ? cells[column] : k_empty;
}

// Absent numbers count as larger than all, whichever way the column is sorted.
bool before(const Cell& a, const Cell& b, bool numeric, bool descending) {
  if (!numeric) return descending ? b.text < a.text : a.text < b.text;
  const bool has_a = a.number && !std::isnan(*a.number), has_b = b.number && !std::isnan(*b.number);
  if (has_a != has_b) return has_a;
  if (!has_a) return false;
  return descending ? *b.number < *a.number : *a.number < *b.number;
}

}  // namespace

CellTone tone_of_error(double error) {
  const double size = std::abs(error);
  if (std::isnan(size)) return CellTone::plain;
  return size < k_good_error ? CellTone::good : size < k_fair_error ? CellTone::fair : CellTone::bad;
}

Cell text_cell(std::string text, CellTone tone) {
  return {std::move(text), std::nullopt, tone};
}

Cell time_cell(std::optional<Nanoseconds> time) {
  if (!time) return text_cell("-", CellTone::faint);
  return {to_string(*time), static_cast<double>(time->value)};
}

Cell bytes_cell(std::optional<Bytes> bytes) {
  if (!bytes) return text_cell("-", CellTone::faint);
  return {to_string(*bytes), static_cast<double>(bytes->value),
          bytes->value == 0 ? CellTone::faint : CellTone::plain};
}

Cell count_cell(std::int64_t count) {
  return {grouped(count), static_cast<double>(count)};
}

Cell error_cell(std::optional<double> error) {
  if (!error) return text_cell("-", CellTone::faint);
  return {*error == 0 ? "0 %" : signed_percent(*error), *error, tone_of_error(*error)};
}

Cell share_cell(std::optional<double> fraction) {
  if (!fraction) return text_cell("-", CellTone::faint);
  return {percent(*fraction), *fraction, *fraction == 0 ? CellTone::faint : CellTone::plain};
}

std::optional<Why> why_cell(const DataTable& table, std::size_t row, std::size_t column) {
  if (row >= table.rows.size() || column >= table.columns.size() || column >= table.rows[row].cells.size())
    return std::nullopt;
  const Column& its = table.columns[column];
  if (!its.numeric && its.meaning.formula.empty()) return std::nullopt;
  Why why;
  why.title = column == 0 ? its.title : fmt::format("{}: {}", table.rows[row].cells.front().text, its.title);
  why.value = table.rows[row].cells[column].text;
  why.formula = its.meaning.formula;
  why.source = its.meaning.source;
  why.settings = its.meaning.settings;
  if (table.explain) table.explain(table, row, column, why);
  return why;
}

WhyPart part_of(const DataTable& table, std::size_t row, std::size_t column) {
  const Cell& cell = cell_at(table, row, column);
  return {table.columns[column].title, cell.text, table.rows[row].instruction, cell.number};
}

std::vector<std::size_t> sorted_rows(const DataTable& table, std::size_t column, bool descending) {
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (column >= table.columns.size()) return order;
  const bool numeric = table.columns[column].numeric;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return before(cell_at(table, a, column), cell_at(table, b, column), numeric, descending);
  });
  return order;
}

std::string to_csv(const DataTable& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (i > 0) text += ',';
    text += csv_field(column.unit.empty() ? column.title : fmt::format("{} ({})", column.title, column.unit));
  }
  text += "\r\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Cell& cell = cell_at(table, row, i);
      if (i > 0) text += ',';
      if (table.columns[i].numeric)
        text += cell.number ? number_text(*cell.number) : "";
      else
        text += csv_field(cell.text);
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace shardlab::view

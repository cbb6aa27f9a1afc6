#include "engine/store/run_columns.h"

#include "engine/store/sql_values.h"
#include "engine/trace/run_figures.h"

namespace shardlab {
namespace {

void bind_value(SQLite::Statement& insert, int index, bool value) {
  insert.bind(index, value ? 1 : 0);
}
void bind_value(SQLite::Statement& insert, int index, double value) {
  bind_number(insert, index, value);
}
void bind_value(SQLite::Statement& insert, int index, std::optional<double> value) {
  bind_number(insert, index, value);
}
template <typename Tag>
void bind_value(SQLite::Statement& insert, int index, Quantity<Tag> value) {
  bind_quantity(insert, index, value);
}
template <typename Tag>
void bind_value(SQLite::Statement& insert, int index, std::optional<Quantity<Tag>> value) {
  bind_quantity(insert, index, value);
}
template <WordEnum E>
void bind_value(SQLite::Statement& insert, int index, std::optional<E> value) {
  if (value)
    insert.bind(index, std::string(to_string(*value)));
  else
    insert.bind(index);
}

void read_value(const SQLite::Column& column, bool& value) {
  value = column.getInt() != 0;
}
void read_value(const SQLite::Column& column, double& value) {
  value = column.getDouble();
}
void read_value(const SQLite::Column& column, std::optional<double>& value) {
  value = read_number(column);
}
template <typename Tag>
void read_value(const SQLite::Column& column, Quantity<Tag>& value) {
  value = {column.getInt64()};
}
template <typename Tag>
void read_value(const SQLite::Column& column, std::optional<Quantity<Tag>>& value) {
  if (!column.isNull()) value = Quantity<Tag>{column.getInt64()};
}
template <WordEnum E>
void read_value(const SQLite::Column& column, std::optional<E>& value) {
  if (!column.isNull()) value = parse_word<E>(column.getString());
}

}  // namespace

std::string run_columns() {
  std::string names;
  visit_columns([&](const auto& row) { names += (names.empty() ? "" : ", ") + std::string(row.column); });
  return names;
}

int run_column_count() {
  int count = 0;
  visit_columns([&](const auto&) { ++count; });
  return count;
}

void bind_columns(SQLite::Statement& insert, int first, const RunSummary& run) {
  RunEntry entry;
  set_columns(entry, run);
  visit_columns([&](const auto& row) { bind_value(insert, first++, entry.*row.entry); });
}

void read_columns(SQLite::Statement& query, int first, RunEntry& entry) {
  visit_columns([&](const auto& row) { read_value(query.getColumn(first++), entry.*row.entry); });
}

}  // namespace shardlab

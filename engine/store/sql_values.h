// Binding and reading the values that SQL has no direct form for.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "engine/base/units.h"

namespace shardlab {

// SQLite turns a NaN into NULL, which here means absent: so it is the text 'nan'.
inline void bind_number(SQLite::Statement& statement, int index, std::optional<double> value) {
  if (!value) {
    statement.bind(index);
  } else if (std::isnan(*value)) {
    statement.bind(index, "nan");
  } else {
    statement.bind(index, *value);
  }
}

inline std::optional<double> read_number(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return column.isText() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

template <typename Tag>
void bind_quantity(SQLite::Statement& statement, int index, Quantity<Tag> value) {
  statement.bind(index, value.value);
}
template <typename Tag>
void bind_quantity(SQLite::Statement& statement, int index, std::optional<Quantity<Tag>> value) {
  value ? statement.bind(index, value->value) : statement.bind(index);
}

inline void bind_text_or_null(SQLite::Statement& statement, int index,
                              const std::optional<std::string>& value) {
  value ? statement.bind(index, *value) : statement.bind(index);
}

}  // namespace shardlab

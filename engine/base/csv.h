// Tables of text as RFC 4180 has them: fields between commas, quoted where they hold commas, quotes or line
// breaks; a quote within quotes is doubled. Lines end with LF or CRLF; a byte-order mark is passed over.
//
// The first record names the columns. Each record has as many fields as there are columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

struct CsvRecord {
  int line = 0;  // of its first field in the file, from 1
  std::vector<std::string> fields;
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRecord> records;

  // The column's place among the fields; nothing when there is none of that name.
  std::optional<std::size_t> column(std::string_view name) const;
};

// `name` stands for the file in errors, all bad_input with a line: an unclosed quote, text beside a quoted
// field, a record of another length, columns without a name or twice.
Result<CsvTable> parse_csv(std::string_view text, std::string_view name);

// A text as one field, quoted where it must be.
std::string csv_field(std::string_view text);

}  // namespace shardlab

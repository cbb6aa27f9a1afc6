// A table, and the same written again.
#include "engine/base/csv.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {
namespace {

void write_fields(const std::vector<std::string>& fields, std::string& text) {
  for (std::size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(fields[i]);
  // A record of one empty field would be an empty line.
  text += fields.size() == 1 && fields[0].empty() ? "\"\"\n" : "\n";
}

}  // namespace

Answer read_csv_text(std::string_view bytes) {
  const Result<CsvTable> table = parse_csv(bytes, "input.csv");
  if (!table) return answer_of(table);
  std::string text = "\xEF\xBB\xBF";  // a name may begin with another mark
  write_fields(table->columns, text);
  for (const CsvRecord& record : table->records) write_fields(record.fields, text);
  const Result<CsvTable> again = parse_csv(text, "again.csv");
  promise(again.has_value(), "a table that was written can be read");
  promise(again->columns == table->columns, "a table keeps its columns");
  promise(again->records.size() == table->records.size(), "a table keeps its records");
  for (std::size_t i = 0; i < table->records.size(); ++i)
    promise(again->records[i].fields == table->records[i].fields, "a table keeps its fields");
  return Answer::taken;
}

}  // namespace shardlab::fuzz

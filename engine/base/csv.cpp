#include "engine/base/csv.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool at_end() const { return at_ >= text_.size(); }

  // The record that begins here, with the end of its line.
  Result<CsvRecord> record() {
    CsvRecord record{line_, {}};
    while (true) {
      SHARDLAB_TRY(std::string field, next_is('"') ? quoted_field() : plain_field());
      record.fields.push_back(std::move(field));
      if (next_is(',')) {
        ++at_;
        continue;
      }
      pass_line_end();
      return record;
    }
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool at_line_end() const { return at_end() || next_is('\n') || text_.substr(at_, 2) == "\r\n"; }
  void pass_line_end() {
    if (at_end()) return;
    at_ += next_is('\n') ? 1 : 2;
    ++line_;
  }

  Result<std::string> plain_field() {
    const std::size_t begin = at_;
    while (!at_line_end() && !next_is(',')) {
      if (next_is('"'))
        return bad_input(in_file(std::string(name_), line_),
                         "a quote inside a field that does not begin with one",
                         "put the whole field in quotes and write its quotes twice");
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> quoted_field() {
    const int opened = line_;
    std::string field;
    for (++at_; !at_end(); ++at_) {
      if (next_is('"')) {
        ++at_;
        if (!next_is('"')) return closed(std::move(field));
      }
      if (text_[at_] == '\n') ++line_;
      field += text_[at_];
    }
    return bad_input(in_file(std::string(name_), opened), "the quote that opens here is never closed");
  }

  Result<std::string> closed(std::string field) const {
    if (at_line_end() || next_is(',')) return field;
    return bad_input(in_file(std::string(name_), line_), "text between a quoted field and the next comma");
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
  int line_ = 1;
};

Status check_columns(const std::vector<std::string>& columns, std::string_view name) {
  std::vector<std::string> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front().empty()) return bad_input(in_file(std::string(name), 1), "a column has no name");
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return bad_input(in_file(std::string(name), 1), "two columns are called '" + *twice + "'");
  return {};
}

bool is_empty_line(const CsvRecord& record) {
  return record.fields.size() == 1 && record.fields.front().empty();
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Result<CsvTable> parse_csv(std::string_view text, std::string_view name) {
  if (text.starts_with(k_byte_order_mark)) text.remove_prefix(k_byte_order_mark.size());
  if (text.empty()) return bad_input(in_file(std::string(name)), "is empty");
  CsvReader reader(text, name);
  SHARDLAB_TRY(CsvRecord header, reader.record());
  SHARDLAB_CHECK_OK(check_columns(header.fields, name));
  CsvTable table{std::move(header.fields), {}};
  while (!reader.at_end()) {
    SHARDLAB_TRY(CsvRecord record, reader.record());
    if (is_empty_line(record)) continue;
    if (record.fields.size() != table.columns.size())
      return bad_input(
          in_file(std::string(name), record.line),
          fmt::format("{} fields, but there are {} columns", record.fields.size(), table.columns.size()));
    table.records.push_back(std::move(record));
  }
  return table;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace shardlab

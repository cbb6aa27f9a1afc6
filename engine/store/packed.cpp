#include "engine/store/packed.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

namespace shardlab {
namespace {

constexpr std::size_t k_length_bytes = 8;
constexpr std::uint64_t k_most_per_byte = 1040;  // zlib's best is 1032

[[noreturn]] void damaged() {
  throw SQLite::Exception("a packed value is damaged", SQLITE_CORRUPT);
}

class Numbers {
 public:
  void add(std::int64_t value) {
    auto rest = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (; rest >= 0x80; rest >>= 7) bytes_.push_back(static_cast<char>(rest | 0x80));
    bytes_.push_back(static_cast<char>(rest));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t next() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == bytes_.size()) damaged();
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    damaged();
  }
  // Each element takes a byte at least.
  std::size_t count() {
    const std::int64_t number = next();
    if (number < 0 || static_cast<std::size_t>(number) > bytes_.size()) damaged();
    return static_cast<std::size_t>(number);
  }
  void expect_end() const {
    if (at_ != bytes_.size()) damaged();
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Differences and sums wrap around, as those of unsigned numbers do: whatever is stored comes back.
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// A column of a row: its number, and where it is kept. `base`: the difference from it is kept, in the same
// row; without one the difference from the row before, or the number itself.
template <typename Row>
struct Column {
  std::function<std::int64_t(const Row&)> get;
  std::function<void(Row&, std::int64_t)> set;
  std::function<std::int64_t(const Row&)> base = {};
  bool runs_on = false;
};

template <typename Row>
using Columns = std::vector<Column<Row>>;

template <typename Row, typename Tag>
Column<Row> quantity(Quantity<Tag> Row::*member, Quantity<Tag> Row::*base) {
  return {[member](const Row& row) { return (row.*member).value; },
          [member](Row& row, std::int64_t value) { (row.*member).value = value; },
          [base](const Row& row) { return (row.*base).value; }};
}
template <typename Row, typename Tag>
Column<Row> running(Quantity<Tag> Row::*member) {
  return {[member](const Row& row) { return (row.*member).value; },
          [member](Row& row, std::int64_t value) { (row.*member).value = value; },
          {},
          true};
}
template <typename Row>
Column<Row> instruction() {
  return {[](const Row& row) { return std::int64_t{row.instruction.value}; },
          [](Row& row, std::int64_t value) { row.instruction.value = static_cast<std::uint32_t>(value); },
          {},
          true};
}

Columns<Span> span_columns() {
  return {instruction<Span>(),
          running(&Span::issue),
          quantity(&Span::ready, &Span::issue),
          quantity(&Span::start, &Span::issue),
          quantity(&Span::end, &Span::start),
          Column<Span>{[](const Span& span) { return std::int64_t{span.skipped}; },
                       [](Span& span, std::int64_t value) { span.skipped = value != 0; }}};
}

// What samples of memory are told apart by, in the order in which the value names it: classes of the device's
// memory, then the other spaces that hold anything.
struct Kinds {
  std::vector<std::size_t> classes, spaces;
};

// What lives after an instruction, and its peak beside it.
template <std::size_t n>
void add_kinds(Columns<MemorySample>& columns, const std::vector<std::size_t>& kinds,
               std::array<Bytes, n> MemorySample::*live, std::array<Bytes, n> MemorySample::*peak) {
  using Row = MemorySample;
  for (const std::size_t i : kinds) {
    const auto get = [i, live](const Row& row) { return (row.*live)[i].value; };
    columns.push_back({get, [i, live](Row& row, std::int64_t v) { (row.*live)[i].value = v; }, {}, true});
    columns.push_back({[i, peak](const Row& row) { return (row.*peak)[i].value; },
                       [i, peak](Row& row, std::int64_t v) { (row.*peak)[i].value = v; }, get});
  }
}

Columns<MemorySample> memory_columns(const Kinds& kinds) {
  using Row = MemorySample;
  Columns<Row> columns{instruction<Row>(), running(&Row::live), quantity(&Row::peak, &Row::live)};
  add_kinds(columns, kinds.classes, &Row::by_class, &Row::by_class_at_peak);
  add_kinds(columns, kinds.spaces, &Row::elsewhere, &Row::peak_elsewhere);
  return columns;
}

template <typename Row>
void add_rows(Numbers& numbers, const std::vector<Row>& rows, const Columns<Row>& columns) {
  numbers.add(static_cast<std::int64_t>(rows.size()));
  for (const Column<Row>& column : columns) {
    std::int64_t before = 0;
    for (const Row& row : rows) {
      const std::int64_t value = column.get(row);
      numbers.add(minus(value, column.base ? column.base(row) : before));
      if (column.runs_on) before = value;
    }
  }
}

template <typename Row>
std::vector<Row> read_rows(NumberReader& numbers, const Columns<Row>& columns) {
  std::vector<Row> rows(numbers.count());
  for (const Column<Row>& column : columns) {
    std::int64_t before = 0;
    for (Row& row : rows) {
      const std::int64_t value = plus(numbers.next(), column.base ? column.base(row) : before);
      column.set(row, value);
      if (column.runs_on) before = value;
    }
  }
  return rows;
}

Kinds kinds_in(const std::vector<MemorySample>& samples) {
  Kinds kinds;
  for (std::size_t i = 0; i < k_buffer_classes; ++i) kinds.classes.push_back(i);
  for (std::size_t i = 0; i < k_memory_spaces; ++i) {
    const bool used = std::any_of(samples.begin(), samples.end(),
                                  [i](const MemorySample& s) { return s.peak_elsewhere[i].value != 0; });
    if (used) kinds.spaces.push_back(i);
  }
  return kinds;
}

std::string names_of(const Kinds& kinds) {
  std::string names;
  for (const std::size_t i : kinds.classes)
    names += std::string(i == 0 ? "" : " ") + std::string(to_string(static_cast<BufferClass>(i)));
  for (const std::size_t i : kinds.spaces) names += " " + std::string(to_string(static_cast<MemorySpace>(i)));
  return names + '\n';
}

// Takes the line with the names.
Kinds take_kinds(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) damaged();
  std::istringstream names{std::string(bytes.substr(0, end))};
  Kinds kinds;
  for (std::string name; names >> name;) {
    const auto its_class = parse_word<BufferClass>(name);
    const auto space = parse_word<MemorySpace>(name);
    if (its_class) {
      kinds.classes.push_back(static_cast<std::size_t>(*its_class));
    } else if (space) {
      kinds.spaces.push_back(static_cast<std::size_t>(*space));
    } else {
      damaged();
    }
  }
  bytes.remove_prefix(end + 1);
  return kinds;
}

}  // namespace

std::string pack_text(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string packed(k_length_bytes + size, '\0');
  for (std::size_t i = 0; i < k_length_bytes; ++i) packed[i] = static_cast<char>(text.size() >> 8 * i);
  const int done = compress2(reinterpret_cast<Bytef*>(packed.data() + k_length_bytes), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  if (done != Z_OK) throw SQLite::Exception("no memory to pack a value", SQLITE_NOMEM);
  packed.resize(k_length_bytes + size);
  return packed;
}

std::string unpack_text(std::string_view packed) {
  if (packed.size() < k_length_bytes) damaged();
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < k_length_bytes; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(packed[i])) << 8 * i;
  packed.remove_prefix(k_length_bytes);
  if (length > k_most_per_byte * packed.size()) damaged();
  std::string text(length, '\0');
  uLongf size = length;
  const int done = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                              reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (done != Z_OK || size != length) damaged();
  return text;
}

std::string pack_trace(const RankTrace& trace) {
  const Kinds kinds = kinds_in(trace.memory);
  Numbers numbers;
  add_rows(numbers, trace.spans, span_columns());
  add_rows(numbers, trace.memory, memory_columns(kinds));
  return pack_text(names_of(kinds) + numbers.bytes());
}

void unpack_trace(std::string_view packed, RankTrace& trace) {
  const std::string content = unpack_text(packed);
  std::string_view bytes = content;
  const Kinds kinds = take_kinds(bytes);
  NumberReader numbers(bytes);
  trace.spans = read_rows(numbers, span_columns());
  trace.memory = read_rows(numbers, memory_columns(kinds));
  numbers.expect_end();
}

}  // namespace shardlab

// The schema of the database as numbered migrations. A new database runs all of them, an older one those it
// lacks; what is here is never changed once released, only added to.
//
// Choices: bytes and nanoseconds are integers; a loss that is no number is the text 'nan', NULL means there
// is none. Spans and memory samples have one row each, so that questions are SQL, in tables without rowid
// keyed by (step_id, instruction): the rows of a step lie together and nothing is indexed twice. Memory has
// two columns for each class of buffer; a zero takes one byte. Steps of thousands of instructions are one
// value instead (packed.h); `shardlab trace RUN --format csv` has rows of those.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shardlab {

struct Migration {
  int version = 0;  // that the database has afterwards
  std::string_view sql;
};

std::span<const Migration> migrations();

// The version that this program reads and writes: the last migration's.
int schema_version();

// The mark of our databases in the header of the file: "shlb".
inline constexpr std::uint32_t k_application_id = 0x73686c62;

}  // namespace shardlab

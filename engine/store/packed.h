// What a large step is kept as: one value for all of its spans and memory, compressed, where rows would take
// a hundred times the bytes. Text of its plan likewise.
//
// A packed value is the length of the content (8 bytes, little-endian) and its zlib stream. The content of a
// trace is a line with the names of the classes of buffers, and numbers as LEB128, signed ones zigzag: how
// many spans, then their columns one after the other (instruction, issue, ready - issue, start - issue, end -
// start, skipped), then the same for memory samples (instruction, live, peak - live, then for each class of
// buffer: live, peak - live). Instruction, issue, live and the live bytes of a class are differences from the
// row before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/trace/step_trace.h"

namespace shardlab {

// Steps and plans of more instructions are packed: above it, SQL has no rows for them.
inline constexpr std::size_t k_most_rows = 4000;

std::string pack_text(std::string_view text);
std::string pack_trace(const RankTrace& trace);

// Back again. A damaged value throws SQLite::Exception as a damaged page would (SQLITE_CORRUPT).
std::string unpack_text(std::string_view packed);
void unpack_trace(std::string_view packed, RankTrace& trace);

}  // namespace shardlab

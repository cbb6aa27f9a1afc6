// Settings from the keys of a file, by the same tables that exports write it with.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/formats/tools/import_subject.h"
#include "engine/formats/tools/tool_key.h"

namespace shardlab {

// All keys of the tables; `file` is the root of their file, its place that of values that the tool takes
// unasked.
void read_tables(std::span<const ToolTable> tables, const ForeignValue& file, const ImportSubject& subject,
                 ImportReading& reading);

// What a key is that no row of a table reads.
enum class UnreadKind : std::uint8_t {
  said,   // settings are made of it elsewhere, or it says the tool's default
  quiet,  // nothing of a step depends on it
  lost,   // a scenario has no such setting
};
struct UnreadVerdict {
  UnreadKind kind = UnreadKind::lost;
  std::string_view why = {};  // empty: the usual words
};
// Judges a key, written with dots. A map is judged before what is in it; where it is lost, the keys inside
// are judged one by one.
using JudgeUnread = std::function<UnreadVerdict(std::string_view key, const ForeignValue& value)>;

// The keys of the file that no row of the tables reads, as differences.
void list_unread(std::span<const ToolTable> tables, const ForeignValue& file, const JudgeUnread& judge,
                 ImportReading& reading);

// Whether one of the rows of (key, value as JSON) is about the key and has this value.
using KnownValue = std::pair<std::string_view, std::string_view>;
bool has_known_value(std::span<const KnownValue> known, std::string_view key, const ForeignValue& value);

// Whether the key is one of these, or inside one.
bool is_among(std::span<const std::string_view> keys, std::string_view key);

}  // namespace shardlab

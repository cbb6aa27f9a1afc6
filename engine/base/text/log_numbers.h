// Numbers in the lines of a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

// The integer that follows `key` (spaces, `=` and `:` between are skipped); nothing where there is none or it
// does not fit. Keys are compared as they are written.
std::optional<std::int64_t> integer_after(std::string_view text, std::string_view key);

// A size such as `388.00 MiB`, `0 bytes`, `2.5 GB` after, or right before, `key`.
std::optional<Bytes> size_after(std::string_view text, std::string_view key);
std::optional<Bytes> size_before(std::string_view text, std::string_view key);

}  // namespace shardlab

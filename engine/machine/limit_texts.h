// Limits and memory: /proc/self/limits, /proc/meminfo, df, cgroups. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

// The soft limit of a row of /proc/self/limits ("Max open files"); nothing for "unlimited".
std::optional<std::int64_t> limit_of(std::string_view text, std::string_view row);

// MemTotal of /proc/meminfo.
std::optional<Bytes> total_memory(std::string_view text);

// The size of the last mount that `df -B1` lists.
std::optional<Bytes> size_of_mount(std::string_view text);

// A number of bytes and nothing else; nothing for "max".
std::optional<Bytes> bytes_in(std::string_view text);

}  // namespace shardlab

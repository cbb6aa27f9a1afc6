// The text of a file that may be packed with gzip. Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace shardlab {

// Whether the file is packed is seen by its first bytes. A text longer than `longest` is refused.
Result<std::string> read_trace_file(const std::filesystem::path& file, std::int64_t longest);

}  // namespace shardlab

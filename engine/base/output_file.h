// Files that somebody names to be written.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace shardlab {

// The file that a finished one may be renamed to: the path itself, or what the link there points to.
// bad_input where something stands that is no ordinary file, a folder, a pipe or a device, which would be
// replaced.
Result<std::filesystem::path> replaceable_file(const std::filesystem::path& path);

}  // namespace shardlab

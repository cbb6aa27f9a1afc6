// What lies in folders.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// Everything that lies directly in the folder, sorted. Errors: bad_input where there is no such folder,
// not_possible (ErrorCode::unreadable) where it cannot be read to its end.
Result<std::vector<std::filesystem::path>> paths_in(const std::filesystem::path& folder);

// Whether something is there. Errors: not_possible (ErrorCode::unreadable) where that cannot be told.
Result<bool> is_there(const std::filesystem::path& path);

// All ordinary files in it and below, sorted. Errors as above.
Result<std::vector<std::filesystem::path>> files_below(const std::filesystem::path& folder);

}  // namespace shardlab

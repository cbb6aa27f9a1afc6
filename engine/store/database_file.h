// What lies at a path, found out by reading the first bytes only: nothing is locked, created or changed.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace shardlab {

enum class DatabaseFile {
  missing,
  empty,  // of zero bytes: one that was about to be created
  ours,   // a shardlab database of this version or an older one
};

// Everything else is bad_input: a folder, a device, a file that is no database, another program's, one of a
// newer shardlab.
Result<DatabaseFile> inspect_database_file(const std::filesystem::path& path);

}  // namespace shardlab

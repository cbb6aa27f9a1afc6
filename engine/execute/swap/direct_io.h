// Whether a file system takes O_DIRECT, which keeps swapped bytes out of the page cache.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace shardlab {

struct DirectAccess {
  bool is_possible = false;
  std::string refused_by;  // where it is not: the kind of the file system, "tmpfs"
};

// Tries a page in a file of the open folder, and removes the file. Errors: the drive's, such as a full one.
Result<DirectAccess> try_direct_access(int folder, const std::string& path, int rank);

}  // namespace shardlab

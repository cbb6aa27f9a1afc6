// Rules of NCCL that somebody broke.
#pragma once

#include <string>

namespace stand_in {

// Keeps the first one for standInViolation() and says it on stderr.
void violate(const std::string& what);

}  // namespace stand_in

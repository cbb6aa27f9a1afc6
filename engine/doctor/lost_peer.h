// A job whose first failure is the loss of a peer that ended without an error. Private to this folder.
#pragma once

#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// Where the process that failed first, as the launcher says, reported nothing but that it lost a peer: that
// finding comes first, as a warning that says so. False where it reported something else, or nothing.
bool tell_lost_peer(std::vector<Finding>& findings, const Case& facts);

}  // namespace shardlab

// Which finding is shown first: errors before warnings before what is worth knowing; causes before what
// follows from them. Private to this folder.
#pragma once

#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"

namespace shardlab {

// Sorts. Beside a cause, what merely follows when a process ends, and what stands still after it, become
// information, and their messages say so; so does what is too uncertain to accuse. `certainty` is lowered by
// what speaks against a finding's being the cause: its role, and that it comes much later than the first.
void order_findings(std::vector<Finding>& findings, const Case& facts);

}  // namespace shardlab

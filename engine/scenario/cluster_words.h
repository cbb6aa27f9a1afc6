// A scenario's cluster as a list of runs names it.
#pragma once

#include <string>

#include "engine/base/result.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {

// "8 x H100-SXM (dgx-h100)", "2 x 8 x H100-SXM" of two nodes, "2 processors", "2 x 4 processors" of
// two ranks with four threads each; empty when it names no hardware that is known. Errors: what is known
// cannot be read now (is_of_the_machine).
Result<std::string> cluster_words(const ClusterSpec& cluster);

}  // namespace shardlab

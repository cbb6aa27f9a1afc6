// What a rank has sent through all its groups.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "engine/execute/torch/communication/communicator.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

using SentTotals = std::map<std::pair<InstructionKind, int>, Sent>;  // by kind and size of group

SentTotals sent_so_far(const Communicators& communicators);
std::vector<SentInStep> sent_between(const SentTotals& before, const SentTotals& after);

}  // namespace shardlab

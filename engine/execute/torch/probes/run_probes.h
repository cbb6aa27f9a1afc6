// Micro-benchmarks through the real implementations: operators, collectives, and both at once.
//
// All ranks run the same list at the same time, as they do in training: what they share (memory, caches,
// cores) is shared here too.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/execute/probe.h"
#include "engine/execute/torch/communication/communicator.h"

namespace shardlab {

using EmitMeasurement = std::function<Status(const ProbeMeasurement&)>;

// Collective over the communicator, which may be null for a single rank (then cases that communicate are
// skipped). All ranks stop at the same case when the budget is spent. bad_input for a case nobody knows;
// failures of libtorch or of a peer become run_failed.
Status run_probes(Communicator* communicator, const ProbeList& list, const EmitMeasurement& emit);

}  // namespace shardlab

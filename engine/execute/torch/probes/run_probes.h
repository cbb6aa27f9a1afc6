// Micro-benchmarks through the real implementations: operators, collectives, and both at once.
//
// All ranks run the same list at the same time, as they do in training: what they share (memory, caches,
// cores) is shared here too.
#pragma once

#include <functional>

#include "engine/base/result.h"
#include "engine/execute/probe.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

using EmitMeasurement = std::function<Status(const ProbeMeasurement&)>;

// Where probes run and with whom. Null communicators: a single rank, and cases that communicate are skipped.
struct ProbePlace {
  Communicator* control = nullptr;      // by which ranks keep in step; over the host
  Communicator* data = nullptr;         // which is measured
  ExecutionBackend* backend = nullptr;  // null: the host
};

// Collective over the communicators. All ranks stop at the same case when the budget is spent. bad_input for
// a case nobody knows; failures of libtorch or of a peer become run_failed.
Status run_probes(const ProbePlace& place, const ProbeList& list, const EmitMeasurement& emit);

}  // namespace shardlab

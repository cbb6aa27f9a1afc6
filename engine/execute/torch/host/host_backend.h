// The host as what the executor works on: CPU tensors, work done when it is issued, collectives in threads.
#pragma once

#include <memory>

#include "engine/execute/torch/device_runtime.h"
#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

// Arithmetic::device is a processor in the place of a GPU, for tests and rehearsals: it computes what a GPU
// would, in the order in which that would be issued.
std::shared_ptr<ExecutionBackend> make_host_backend(Arithmetic arithmetic = Arithmetic::host);

// A rank's host, for scenarios that train on processors.

// A memory limit is one on the request's ledger, which then refuses what goes beyond.
std::unique_ptr<DeviceRuntime> make_host_runtime(const DeviceRequest& request);

}  // namespace shardlab

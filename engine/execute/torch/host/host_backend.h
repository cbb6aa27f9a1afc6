// The host as what the executor works on: CPU tensors, work done when it is issued, collectives in threads.
#pragma once

#include <memory>

#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

// Arithmetic::device is what a GPU would compute, on a processor: for tests and rehearsals.
std::shared_ptr<ExecutionBackend> make_host_backend(Arithmetic arithmetic = Arithmetic::host);

}  // namespace shardlab

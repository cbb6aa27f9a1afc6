// The host as what the executor works on: CPU tensors, work done when it is issued, collectives in threads.
#pragma once

#include <memory>

#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

// Arithmetic::device is a processor in the place of a GPU, for tests and rehearsals: it computes what a GPU
// would, in the order in which that would be issued.
std::shared_ptr<ExecutionBackend> make_host_backend(Arithmetic arithmetic = Arithmetic::host);

}  // namespace shardlab

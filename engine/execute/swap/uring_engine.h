// io_uring: the kernel's own queue of reads and writes, without a thread for each.
#pragma once

#include <memory>

#include "engine/base/result.h"
#include "engine/execute/swap/swap_engine.h"

namespace shardlab {

// not_possible where the kernel has no io_uring that reads and writes (before Linux 5.6), where it is
// forbidden (kernel.io_uring_disabled, a container's seccomp profile), and where this build has no liburing
// (SHARDLAB_HAS_URING).
Result<std::unique_ptr<SwapEngine>> open_uring_engine(int depth);

}  // namespace shardlab

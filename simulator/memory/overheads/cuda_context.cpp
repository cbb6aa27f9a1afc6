// A process's context on a device: what the driver keeps for it, and the kernels that it loaded.
#include "simulator/memory/overheads/overhead_rows.h"

namespace shardlab {

// Nobody published one for AMD's devices.
Overheads context_overheads(const Device& device, const RuntimeMemory& runtime) {
  if (device.cuda_capability == 0) return {};
  return {{.name = "CUDA context",
           .bytes = runtime.context,
           .low = runtime.context_low,
           .high = runtime.context_high,
           .where = OverheadPlace::device,
           .formula = "one a process, kernels loaded as they are first used",
           .source = runtime.source("cuda.context")}};
}

}  // namespace shardlab

// Time of work on host memory by a rank's processors beside a GPU: the optimizer, norms, sums.
//
//   t = bytes / min(cores * bandwidth of a core, a rank's part of the memory's bandwidth)
//
// `bytes` counts reads and writes: 28 a parameter for a fused AdamW in float32, 80 for one of several
// kernels. Seconds of a step on GH200 (DeepSpeed's blog on SuperOffload) are those of its memory at 60 % of
// its peak.
#pragma once

#include "engine/hardware/device.h"
#include "simulator/cost/breakdown.h"

namespace shardlab {

struct HostWorkCoefficients {
  int cores = 1;
  BytesPerSecond fused, kernels;  // of one core: once over the tensors, or kernel after kernel
  BytesPerSecond memory;          // a rank's part
};
HostWorkCoefficients published_host_work(const Device& device);

double host_work_ns(Bytes traffic, bool fused, const HostWorkCoefficients& coefficients);
CostBreakdown explain_host_work(Bytes traffic, bool fused, const HostWorkCoefficients& coefficients);

}  // namespace shardlab

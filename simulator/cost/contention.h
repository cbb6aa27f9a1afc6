// How much computing and communicating slow each other down when they run at the same time.
#pragma once

#include "engine/hardware/device.h"
#include "simulator/core/timeline.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shared_resources.h"

namespace shardlab {

// Fractions of the speed alone.
struct ContentionFactors {
  double compute_beside_collective = 1;
  double collective_beside_compute = 1;
};

// On a CPU: both at 1 / (1 + overlap_penalty), which makes a step last max + penalty * min of the two when
// they overlap entirely. On a GPU: a ring kernel holds one multiprocessor per channel (24 channels on nodes
// with NVLink, NCCL's tuning model); what remains of the published loss (memory traffic, clocks) is an
// estimate of 15 % of the shorter.
ContentionFactors published_contention(const Device& device);

// What a computing instruction takes of what a rank's instructions share. On a GPU all multiprocessors, so
// that kernels of several streams share it evenly and a cast beside a product is not free (an estimate; what
// one leaves idle the other could use). Nothing on a CPU, whose host computes one thing at a time.
ResourceShares shares_of_compute(DeviceKind device);

Contention to_contention(const ContentionFactors& factors);
CostBreakdown explain_contention(const ContentionFactors& factors);

}  // namespace shardlab

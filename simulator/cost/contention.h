// How much computing and communicating slow each other down when they run at the same time.
#pragma once

#include <optional>

#include "engine/hardware/device.h"
#include "simulator/core/timeline.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shared_resources.h"
#include "simulator/network/transfer_time.h"

namespace shardlab {

// Fractions of the speed alone, of all that computes and all that communicates.
struct ContentionFactors {
  double compute_beside_collective = 1;
  double collective_beside_compute = 1;
  // On GPUs, in place of compute_beside_collective: the part of a GPU that computing was measured to lose to
  // a collective with all channels.
  std::optional<double> lost_to_channels;
};

// On a CPU: both at 1 / (1 + overlap_penalty), which makes a step last max + penalty * min of the two when
// they overlap entirely. On a GPU nothing beyond what shares of its resources say, unless a calibration
// measured it.
ContentionFactors published_contention(const Device& device);

// What a computing instruction takes of what a rank's instructions share. On a GPU all multiprocessors, so
// that kernels of several streams share it evenly and a cast beside a product is not free (an estimate; what
// one leaves idle the other could use); what only moves memory takes all of its bandwidth as well. Nothing on
// a CPU, whose host computes one thing at a time.
ResourceShares shares_of_compute(DeviceKind device, bool moves_memory);

// What a collective on GPUs takes while it runs for `nanoseconds`: a multiprocessor for each channel, and of
// memory and wires what its bytes are of what they could carry in that time. It keeps the multiprocessors
// however slowly its bytes go. What overlap costs besides
// (`overlap_loss` of assets/network/collectives.yaml) counts as multiprocessors too, as far as its busiest
// wire is busy. Where a calibration measured how much computing loses, a collective with all channels takes
// that instead.
ResourceShares shares_of_collective(const Device& device, const TransferTime& time, double nanoseconds,
                                    const ContentionFactors& factors);

Contention to_contention(const ContentionFactors& factors);
CostBreakdown explain_contention(const ContentionFactors& factors, const ResourceShares& shares);

}  // namespace shardlab

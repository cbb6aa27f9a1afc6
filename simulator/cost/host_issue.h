// Host time to issue an instruction: a fixed part, and one launch per kernel where launching is separate from
// computing (a GPU). Handing a collective to the communication library has a fixed part of its own.
#pragma once

#include <cstdint>

#include "simulator/cost/breakdown.h"

namespace shardlab {

struct HostCoefficients {
  double instruction_ns = 0;  // bookkeeping of one instruction
  double collective_ns = 0;   // the same for a collective
  double launch_ns = 0;       // per kernel; 0 on a CPU, where an operator's own cost is part of its time
};

struct HostTime {
  double first_kernel_ns = 0;  // until the device may start
  double total_ns = 0;
};

HostTime host_time(bool collective, std::int64_t kernels, const HostCoefficients& coefficients);
CostBreakdown explain_host_time(bool collective, std::int64_t kernels, const HostCoefficients& coefficients);

}  // namespace shardlab

// Host time to issue an instruction: a fixed part, and one launch per kernel where launching is separate from
// computing (a GPU). Handing a collective to the communication library has a fixed part of its own.
//
// Who issues decides what that is. Our executor is C++ throughout. In a Python program forward (and what
// checkpointing computes again) and the optimizer are issued by Python, operator by operator; backward by the
// C++ thread of autograd; and what FSDP or DeepSpeed do around a collective are hooks in Python. DDP's
// reducer is C++ in autograd's thread: what it copies and reduces is launched from there.
#pragma once

#include <cstdint>

#include "engine/hardware/device.h"
#include "engine/plan/instruction_words.h"
#include "engine/scenario/run_words.h"
#include "simulator/cost/breakdown.h"

namespace shardlab {

struct HostCoefficients {
  double instruction_ns = 0;       // bookkeeping of one instruction
  double collective_ns = 0;        // the same for a collective
  double launch_ns = 0;            // per kernel; 0 on a CPU, where an operator's own cost is part of its time
  double backward_launch_ns = 0;   // likewise in backward
  double reduction_launch_ns = 0;  // likewise of what fills buckets of gradients
};

struct HostTime {
  double first_kernel_ns = 0;  // until the device may start
  double total_ns = 0;
};

// From published figures. `reduces_in_cpp`: see StrategyFacts.
HostCoefficients published_host(const Device& device, HostProgram host, bool reduces_in_cpp = false);

HostTime host_time(InstructionKind kind, std::int64_t kernels, const HostCoefficients& coefficients);
CostBreakdown explain_host_time(InstructionKind kind, std::int64_t kernels,
                                const HostCoefficients& coefficients);

}  // namespace shardlab

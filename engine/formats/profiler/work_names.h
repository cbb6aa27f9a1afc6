// What the names in a profiler's trace say: a short word for people, the kind of a collective, the phase of a
// step. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/units.h"
#include "engine/formats/profiler/profiler_trace.h"
#include "engine/plan/instruction.h"

namespace shardlab {

// One word, without template arguments, parameters and return type:
// "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(...)" is "at::native::reduce_kernel".
std::string short_name(std::string_view name);

// The collective of a kernel of NCCL ("ncclDevKernel_AllGather_RING_LL(...)", "ncclKernel_AllReduce_RING_LL")
// or of an operation of Gloo ("gloo:all_reduce"); absent for everything else. A send with its receive counts
// as AllToAll, which NCCL makes of them.
std::optional<InstructionKind> collective_kind(std::string_view name);

// The full side, from what PyTorch says beside the kernel; zero where it says nothing.
Bytes full_side(const ProfilerCollective& collective);

// What everything inside an event of this name is: autograd's functions are Backward, the optimizer's
// annotations OptimizerStep and ZeroGradients, the data loader's LoadBatch. Absent for every other name.
std::optional<InstructionKind> phase_of_name(std::string_view name);

// The number of "ProfilerStep#12".
std::optional<std::int64_t> step_number(std::string_view name);

}  // namespace shardlab

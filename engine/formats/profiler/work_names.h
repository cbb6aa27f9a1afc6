// What the names in a profiler's trace say: a short word for people, the kind of a collective, the phase of a
// step. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/dtype.h"
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

// Whether it is one of Gloo's, which runs on a thread of the host.
bool is_gloo(std::string_view name);

// What PyTorch says, and what follows where all collectives are among `all_ranks` (absent: not known): Gloo
// tells only what goes in.
ProfilerCollective completed(ProfilerCollective collective, std::optional<int> all_ranks);

// The full side; zero, which stands for unknown, where the trace does not tell it.
Bytes full_side(const ProfilerCollective& collective);

// The element type that a collective's dtype means, as NCCL's events ("BFloat16") or C++ ("c10::BFloat16")
// write it; absent for those that no scenario has.
std::optional<DType> dtype_of(std::string_view name);

// Whether an annotation of this name is around what FSDP does before and after a module's own work: gathers,
// reductions, and waiting for them.
bool is_hook_of_fsdp(std::string_view name);

// The module whose parameters FSDP2 gathers or whose gradients it reduces inside an annotation of this name:
// "layers.0" of "FSDP::all_gather (layers.0)" and of "FSDP::backward_prefetch for layers.0", "root" of
// "FSDP::all_gather". Absent for every other name. Source: torch 2.11, _fsdp_param_group.py.
std::optional<std::string> module_of_mark(std::string_view name);

// What everything inside an event of this name is: autograd's functions are Backward, the optimizer's
// annotations OptimizerStep and ZeroGradients, the data loader's LoadBatch; the annotations of DDP, FSDP1 and
// FSDP2 (torch 2.11) and of DeepSpeed's engine (0.19, instrument_w_nvtx) say which pass they are. Absent for
// every other name.
std::optional<InstructionKind> phase_of_name(std::string_view name);

// The number of "ProfilerStep#12".
std::optional<std::int64_t> step_number(std::string_view name);

}  // namespace shardlab

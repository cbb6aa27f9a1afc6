// Copies of gradients that DeepSpeed makes of what one rank owns, and gives back at once. Private to this
// folder.
//
// A plan is that of all ranks: where they differ its buffers are as large as any rank's. These copies are
// those of one rank, the one that owns most of a single gradient.
//
// Source: DeepSpeed 0.19.8.
// - ZeRO-1 and ZeRO-2 (zero/stage_1_and_2.py, get_grad_norm_direct) and ZeRO-3 (zero/stage3.py, of the same
//   name) measure the norm of one gradient after the other in a copy in float64 (zero/utils.py,
//   get_norm_dtype); with the optimizer on the host ZeRO-1 and ZeRO-2 do as each gradient leaves
//   (set_norm_for_param_grad_in_gpu).
// - They widen one gradient after the other, to add it to sums in float32 (_add_to_grad_partition_buffer) and
//   on its way to the host (async_inplace_copy_grad_to_fp32_buffer_from_gpu). Plans take the largest.
// - ZeRO-1 with float32 sums (bf16_optimizer.py) does none of this.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/plan/layout.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

class GradientCopies {
 public:
  // Both must outlive it.
  GradientCopies(const PlannedScenario& planned, const StepPlan& plan);

  // What the instruction takes and gives back, one after the other.
  std::vector<Bytes> of(const Instruction& instruction) const;
  // The buffers of the plan in whose place these are.
  std::vector<BufferId> replaced() const;

 private:
  std::vector<std::int64_t> owned_elements(const Buffer& gradients) const;
  std::vector<std::int64_t> owned_in(const Buffer& gradients) const;

  const PlannedScenario& planned_;
  const StepPlan& plan_;
  bool makes_them_ = false;    // under this strategy
  bool of_all_ranks_ = false;  // ZeRO-3, whose ranks own a part of every parameter
  // ZeRO-1 and ZeRO-2 give parts of one vector to ranks.
  std::optional<ParameterLayout> weights_;
  std::vector<std::optional<std::size_t>> piece_of_;  // by parameter: where it is in weights_
  std::int64_t rank_ = 0;
};

}  // namespace shardlab

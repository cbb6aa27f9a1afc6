// The flat vector of all trained parameters that ZeRO-1 and ZeRO-2 cut into one part a rank, and what is kept
// beside it for the optimizer.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py: the parameters one after the other, the end
// rounded up to twice the ranks (nccl_start_alignment_factor); the part of a rank is copied to float32
// (single_partition_of_fp32_groups), whatever the parameters' own dtype is. With offload_optimizer that copy
// lies in host memory, beside the updated weights on their way back (param_buffer_of_bit16_for_cpu_offload).
#pragma once

#include <optional>

#include "engine/strategies/host_state.h"

namespace shardlab {

// Frozen parameters are in no group of the optimizer: whole on every rank, as the model holds them, living
// across steps. None where nothing is frozen.
std::optional<BufferId> declare_frozen(StepBuilder& builder, UnitId root, DType dtype);

class FlatGroup {
 public:
  // Declares what lives across steps, and fills it in the setup plan. `round_robin`: neighbours in the order
  // of definition lie in parts of different ranks, as far as parameters of unlike sizes allow.
  FlatGroup(StepBuilder& builder, UnitId root, int ranks, GroupId group, std::optional<HostState> host,
            bool round_robin);

  BufferId weights() const { return weights_; }  // what compute reads; whole on every rank
  BufferId master() const { return master_; }    // this rank's part in float32
  const ParameterLayout& layout() const { return layout_; }
  int ranks() const { return ranks_; }
  DType dtype() const { return dtype_; }

  // A buffer that lies like this rank's part, or like all of them.
  Buffer part(std::string name, BufferClass buffer_class, DType dtype) const;
  Buffer whole(std::string name, BufferClass buffer_class, DType dtype) const;

  // After the optimizer: the updated part goes into the weights, and those of all ranks are gathered in
  // place.
  void gather();

 private:
  Buffer like(std::string name, BufferClass buffer_class, BufferLayout layout, DType dtype) const;
  void copy_out();
  BufferId updated_part();

  StepBuilder& b_;
  const UnitId root_;
  const int ranks_;
  const GroupId group_;
  const std::optional<HostState> host_;  // where the optimizer works, if not on the device
  const DType dtype_;
  std::vector<ParameterId> parameters_;
  ParameterLayout layout_;
  BufferId weights_, master_;
  std::optional<BufferId> updated_;  // this rank's part of the weights in host memory
};

}  // namespace shardlab

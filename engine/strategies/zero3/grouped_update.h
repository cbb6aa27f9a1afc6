// What ZeRO-3's optimizer works on: float32 masters and gradients, sub-group by sub-group.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py (step, _prepare_fp32_grad_for_sub_group,
// _reassign_or_swap_out_partitioned_parameters). With offload_optimizer masters and gradients lie in host
// memory; what is updated goes to the device again, unless the parameters rest on the host, too. On a drive
// they lie between updates alone (optimizer_swap.h).
#pragma once

#include <optional>
#include <vector>

#include "engine/strategies/host_state.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/zero3/gathers.h"
#include "engine/strategies/zero3/optimizer_swap.h"
#include "engine/strategies/zero3/sub_groups.h"

namespace shardlab {

class GroupedUpdate {
 public:
  // Declares the masters. All must outlive this.
  // `swap`: where sub-groups lie on a drive; may be null.
  GroupedUpdate(StepBuilder& builder, const SubGroups& groups, UnitId root, std::optional<HostState> host,
                OptimizerSwap* swap);
  // In the setup: cuts the masters from the shards.
  void cut_masters(const Gathers& gathers);

  // The group with its reduced gradient: what prepare() has made of it, or this.
  TrainedUnit unit(std::size_t group, BufferId reduced) const;
  // Makes the float32 gradient of a group; where the optimizer works on the host there is one already.
  void prepare(std::size_t group, BufferId reduced);
  // Takes what was updated into the shards, and drops the gradient.
  void finish(std::size_t group, const Gathers& gathers);

 private:
  bool swaps(std::size_t group) const { return swap_ != nullptr && swap_->swaps(group); }
  BufferId master(std::size_t group) const { return unit(group, {}).parameters; }
  std::vector<BufferId> shards_of(std::size_t group, const Gathers& gathers) const;
  BufferId copy(BufferId from, std::size_t group, std::string name, DType dtype);
  void rest_pageable(Buffer& buffer) const;
  BufferId rounded(std::size_t group, const Buffer& shard);

  StepBuilder& b_;
  const SubGroups& groups_;
  const UnitId root_;
  const std::optional<HostState> host_;
  OptimizerSwap* const swap_;
  std::vector<std::optional<BufferId>> masters_;  // by group; none of those on a drive
  std::optional<BufferId> gradient_;              // in float32, of the group that is updated
};

}  // namespace shardlab

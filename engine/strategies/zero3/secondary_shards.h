// hpZ of ZeRO++: a second shard of every parameter, among neighbours, from which it is gathered again.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partition_parameters.py (_partition_param_sec): who gives a gathered
// parameter back for the first time in a step keeps one of `zero_hpz_partition_size` equal parts of it, and
// the host waits until that is copied. stage3.py (invalidate_secondary_tensor): the parts of what was trained
// end with the update; those of frozen parameters never do. When the model is partitioned at the beginning,
// all have one: the first step gathers among neighbours only.
#pragma once

#include <vector>

#include "engine/strategies/step_builder.h"

namespace shardlab {

class SecondaryShards {
 public:
  // `whole`: by ParameterId, what the parts are cut from. `ranks`: of the whole group, a multiple of
  // `neighbours`, who share a parameter. In the setup the parts are filled.
  SecondaryShards(StepBuilder& builder, const std::vector<BufferId>& whole, int ranks, int neighbours);

  GroupId group() const { return group_; }
  int neighbours() const { return neighbours_; }
  BufferId shard(ParameterId parameter) const { return shards_[parameter.index()]; }
  // A gather may read it.
  bool exists(ParameterId parameter) const { return b_.is_live(shard(parameter)); }

  // Keeps this rank's part of a whole parameter; the host, and with it what `readers` is given later, waits
  // for it.
  void cut(ParameterId parameter, BufferId whole, StreamId readers);
  // The update made those of trained parameters old.
  void invalidate();

 private:
  Buffer shard_buffer(const Buffer& whole, int ranks) const;
  bool expires(ParameterId parameter) const { return b_.graph().parameter(parameter).trainable; }

  StepBuilder& b_;
  const GroupId group_;
  const int neighbours_;
  std::vector<BufferId> shards_;  // by ParameterId
};

}  // namespace shardlab

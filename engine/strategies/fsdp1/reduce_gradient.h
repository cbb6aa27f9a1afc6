// The gradient side of FSDP1: from the gradients autograd left to the reduced, sharded one. Private to this
// folder.
//
// Source: torch 2.11, fsdp/_runtime_utils.py (_post_backward_hook, _reduce_grad, _reduce_grad_no_shard,
// _accumulate_sharded_grad). Pre- and post-division around a sum (factors of the world size) are one average
// here.
#pragma once

#include <optional>
#include <vector>

#include "engine/strategies/fsdp1/flat_unit.h"

namespace shardlab::fsdp1 {

class ReduceGradient {
 public:
  ReduceGradient(StepBuilder& builder, const Streams& streams, const Settings& settings, GroupId shard,
                 std::optional<GroupId> replicate, std::vector<FlatUnit>& units)
      : b_(builder),
        streams_(streams),
        settings_(settings),
        shard_(shard),
        replicate_(replicate),
        units_(units) {}

  // The backward of the views: the parameters' gradients become one flat gradient, added to the one of
  // earlier micro-batches.
  void flatten(UnitId unit, std::vector<BufferId> gradients);
  // Gradients are synchronised: casts, pads, reduces, adds to what was reduced before.
  void reduce(UnitId unit);
  // They are not: the flat gradient stays.
  void keep(UnitId unit);
  // End of backward: compute waits for all reductions.
  void finish();

 private:
  std::optional<BufferId> held_gradient(const FlatUnit& state) const;
  BufferId cast(FlatUnit& state, UnitId unit, BufferId gradient);
  BufferId pad(FlatUnit& state, UnitId unit, BufferId gradient);
  BufferId scatter(FlatUnit& state, UnitId unit, BufferId gradient);
  void settle(FlatUnit& state, UnitId unit, BufferId reduced);
  void finish_offloading();
  void reduce_whole(FlatUnit& state, UnitId unit);
  void drop_flat_gradient(FlatUnit& state, UnitId unit);
  Instruction convert(InstructionKind kind, UnitId unit, BufferId from, BufferId to, StreamId stream) const;
  void release(UnitId unit, std::vector<BufferId> buffers, StreamId stream, bool recorded);
  StreamId settling_stream() const { return replicate_ ? streams_.all_reduce : streams_.post_backward; }

  StepBuilder& b_;
  Streams streams_;
  Settings settings_;
  GroupId shard_;
  std::optional<GroupId> replicate_;
  std::vector<FlatUnit>& units_;
};

}  // namespace shardlab::fsdp1

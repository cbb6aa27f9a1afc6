// The reduce-scatter side of FSDP2: foreach_reduce and accumulation. Private to this folder.
#pragma once

#include <vector>

#include "engine/strategies/fsdp2/unit_state.h"

namespace shardlab::fsdp2 {

class Reduce {
 public:
  Reduce(StepBuilder& builder, const Streams& streams, const Mesh& mesh, std::vector<UnitState>& units)
      : b_(builder), streams_(streams), mesh_(mesh), units_(units) {}

  // Reduces the gradients of a unit into its sharded gradient, adding to it when one is there already.
  // `over_replicas`: now, else the sum over the shards is kept for a later micro-batch.
  void reduce(UnitId unit, const std::vector<BufferId>& gradients, bool over_replicas);

  // Without synchronisation and with a reduction dtype of its own: gradients are kept unsharded in that
  // dtype.
  void accumulate_unsharded(UnitId unit, const std::vector<BufferId>& gradients);
  bool has_unsharded(UnitId unit) const;
  std::vector<BufferId> take_unsharded(UnitId unit);

  // CPUOffloadPolicy, final callback: the host waits until the unit's gradients have come.
  void await_offloaded(UnitId unit);

  // Final callback: compute waits for every reduction, the last input is dropped.
  void finish();

 private:
  InstructionId pack(UnitState& state, UnitId unit, const std::vector<BufferId>& gradients);
  BufferId scatter(UnitState& state, UnitId unit, InstructionId packed, bool over_replicas);
  void keep_partial(UnitState& state, UnitId unit);
  void add_partial(UnitState& state, UnitId unit, BufferId output);
  void all_reduce(UnitId unit, BufferId output);
  void settle(UnitState& state, UnitId unit, BufferId output);
  void offload(UnitState& state, UnitId unit, BufferId output);
  void add_on_host(UnitState& state, UnitId unit, BufferId from);
  void accumulate(UnitId unit, BufferId from, BufferId to, StreamId stream);
  void drop_previous_input();
  void drop_all_reduced(UnitState& state);
  BufferId unsharded_buffer(UnitId unit, BufferId gradient);
  StreamId settling_stream() const { return mesh_.replicate ? streams_.all_reduce : streams_.reduce_scatter; }

  StepBuilder& b_;
  Streams streams_;
  Mesh mesh_;
  std::vector<UnitState>& units_;
  UnitState* previous_ = nullptr;  // its reduce-scatter input is alive
  struct Unsharded {
    BufferId gradient, accumulated;
  };
  std::vector<std::vector<Unsharded>> unsharded_;  // by UnitId
};

}  // namespace shardlab::fsdp2

// The all-gather side of FSDP2: foreach_all_gather, foreach_all_gather_copy_out, reshard. Private to this
// folder.
#pragma once

#include <vector>

#include "engine/strategies/fsdp2/unit_state.h"

namespace shardlab::fsdp2 {

class Gather {
 public:
  Gather(StepBuilder& builder, const Streams& streams, const Mesh& mesh, std::vector<UnitState>& units)
      : b_(builder), streams_(streams), mesh_(mesh), units_(units) {}

  // Root pre-forward: the gather streams wait for what compute did before (the optimizer, an earlier
  // micro-batch).
  void begin_forward();

  // Issues the gather of a unit unless its parameters are there or on their way.
  void unshard(UnitId unit);

  // Copies out. The gather output of the unit before lives until this unit's copy-out was issued.
  void wait_in_forward(UnitId unit);
  // Copies out and drops the gather output right away.
  void wait_in_backward(UnitId unit);
  // End of the root's forward.
  void drop_last_output();

  // After forward: over all ranks, or over the group of an integer setting.
  void reshard_after_forward(UnitId unit);
  void reshard(UnitId unit);
  // End of backward: what was gathered or kept for a unit whose backward never came is dropped. (PyTorch
  // drops what was kept over an integer group only when the next forward keeps it anew.)
  void drop_unused(UnitId unit);

 private:
  void bring_in(UnitState& state, UnitId unit, StreamId stream);
  InstructionId copy_in(UnitState& state, UnitId unit, BufferId source, BufferId cast, BufferId target);
  bool copy_out(UnitState& state, UnitId unit);
  void drop_output(UnitState& state);
  BufferId output(const UnitState& state) const;

  StepBuilder& b_;
  Streams streams_;
  Mesh mesh_;
  std::vector<UnitState>& units_;
  UnitState* previous_ = nullptr;  // its gather output is alive in forward
};

}  // namespace shardlab::fsdp2

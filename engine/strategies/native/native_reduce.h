// The gradient side of `native`: backward writes and adds gradients where the reduction reads them, if it
// makes all of a unit's in one segment and in the dtype of the reduction; otherwise they are copied there
// once. Private to this folder.
#pragma once

#include <vector>

#include "engine/strategies/native/native_unit.h"

namespace shardlab::native {

class Reduce {
 public:
  // `updates`: an optimizer steps behind each reduction.
  Reduce(StepBuilder& builder, const Streams& streams, const Mesh& mesh, std::vector<NativeUnit>& units,
         bool updates)
      : b_(builder), streams_(streams), mesh_(mesh), units_(units), updates_(updates) {}

  // Averages over the shards, then over the replicas, into or onto the sharded gradient.
  void reduce(UnitId unit, const std::vector<BufferId>& gradients);
  // This micro-batch does not reduce: what is not yet where the reduction reads it, in its dtype, goes there.
  void keep(UnitId unit, const std::vector<BufferId>& gradients);
  // The optimizer, which stands last on the stream of reductions, is done with the unit's gradient.
  void drop_updated(UnitId unit);
  // End of backward: compute waits for all reductions.
  void finish();

 private:
  BufferId input_of(NativeUnit& state, UnitId unit, const std::vector<BufferId>& gradients);
  void collect(NativeUnit& state, UnitId unit, const std::vector<BufferId>& gradients);
  void finish_whole(NativeUnit& state, UnitId unit, BufferId gradient);
  BufferId scatter(NativeUnit& state, UnitId unit, BufferId input);
  void settle(NativeUnit& state, UnitId unit, BufferId output);
  void drop_previous_input();
  bool is_written_in_place(const NativeUnit& state) const {
    return state.one_gradient_buffer && state.reduce == state.param;
  }

  struct Issued {
    BufferId input;
    InstructionId reader;
  };

  StepBuilder& b_;
  const Streams& streams_;
  const Mesh& mesh_;
  std::vector<NativeUnit>& units_;
  const bool updates_;
  std::optional<Issued> previous_;
};

}  // namespace shardlab::native

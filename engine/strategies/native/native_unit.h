// What `native` keeps per unit, as buffers of a plan. Private to this folder.
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"
#include "engine/strategies/sharding_strategy.h"

namespace shardlab::native {

using Mesh = ShardGroups;

struct Streams {
  StreamId gather, reduce;
};

// Buffers of one unit and which of its asynchronous operations are under way. `shard` is this rank's part of
// the flat vector, `full` the whole of it: the shard itself where nothing is sharded or cast.
struct NativeUnit : ShardedUnit {
  // Elements to which a parameter's begin is rounded up in all flat buffers of the unit.
  int alignment = 1;
  // Backward makes all gradients of the unit in one segment: it writes them where the reduction reads them.
  bool one_gradient_buffer = false;

  // Nobody shares the unit and its gradients are made, or copied, in the dtype of the stored parameters: what
  // backward leaves is the gradient, and there is nothing to scatter.
  bool whole_gradient = false;

  bool updated = false;  // in this step, by an optimizer within backward

  BufferId input;  // of the reduction, where gradients cannot be made in it

  std::optional<InstructionId> gathered;  // whose result nobody has waited for yet
  bool shares_memory() const { return full == shard; }
};

// In the setup plan only what lives across steps; it is initialised there.
NativeUnit declare_native_unit(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                               const Streams& streams);

// 16 bytes of the compute dtype, what vector instructions like, unless flat vectors would then be longer than
// row shards with their padding are together: native never moves more than FSDP2.
int flat_alignment(const StepBuilder& builder, UnitId unit, int shards);

}  // namespace shardlab::native

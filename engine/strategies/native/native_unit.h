// What `native` keeps per unit, as buffers of a plan. Private to this folder.
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"
#include "engine/strategies/step_builder.h"

namespace shardlab::native {

struct Streams {
  StreamId gather, reduce;
};

// Ranks and groups that all units share.
struct Mesh {
  int shards = 1;
  GroupId shard;
  std::optional<GroupId> replicate;
};

// Buffers of one unit and which of its asynchronous operations are under way.
struct NativeUnit {
  bool has_parameters = false;
  bool reshard_after_forward = true;
  DType stored, param, reduce;
  // Elements to which a parameter's begin is rounded up in all flat buffers of the unit.
  int alignment = 1;
  // Backward makes all gradients of the unit in one segment: it writes them where the reduction reads them.
  bool one_gradient_buffer = false;

  BufferId shard;     // stored parameters, this rank's part of the flat vector
  BufferId full;      // gathered, in the compute dtype; the shard itself where nothing is sharded or cast
  BufferId input;     // of the reduction, where gradients cannot be made in it
  BufferId reduced;   // its output, when it is not the gradient itself
  BufferId gradient;  // sharded gradient in the stored dtype

  std::optional<InstructionId> gathered;  // whose result nobody has waited for yet
  bool casts() const { return param != stored; }
  bool shares_memory() const { return full == shard; }
};

// In the setup plan only what lives across steps; it is initialised there.
NativeUnit declare_native_unit(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                               const Streams& streams);

// 16 bytes of the compute dtype, what vector instructions like, unless flat vectors would then be longer than
// row shards with their padding are together: native never moves more than FSDP2.
int flat_alignment(const StepBuilder& builder, UnitId unit, int shards);

}  // namespace shardlab::native

// What FSDP2 keeps per parameter group, as buffers of a plan. Private to this folder.
#pragma once

#include <optional>
#include <string>

#include "engine/scenario/scenario.h"
#include "engine/strategies/step_builder.h"

namespace shardlab::fsdp2 {

struct Streams {
  StreamId copy_in, all_gather, reduce_scatter;
};

struct Precision {
  DType stored, param, reduce;
};

// Buffers of one unit and which of its asynchronous operations are under way.
struct UnitState {
  BufferId shard;     // stored parameters, this rank's rows
  BufferId cast;      // the shard in the compute dtype
  BufferId gathered;  // gather output, rank by rank
  BufferId full;      // per-parameter tensors
  BufferId reduce_input;
  BufferId reduced;   // reduce-scatter output, when it is not the gradient itself
  BufferId gradient;  // sharded gradient in the stored dtype
  bool has_parameters = false;
  bool reshard_after_forward = true;
  std::optional<InstructionId> all_gather;       // issued, not yet waited for
  std::optional<InstructionId> unpack;           // of the gather output that is still alive
  std::optional<InstructionId> reduce_scatter;   // whose input is still alive
};

}  // namespace shardlab::fsdp2

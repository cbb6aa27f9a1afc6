// What FSDP2 keeps per parameter group, as buffers of a plan. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "engine/scenario/scenario.h"
#include "engine/strategies/host_state.h"
#include "engine/strategies/sharding_strategy.h"

namespace shardlab::fsdp2 {

using Mesh = ShardGroups;

struct Streams {
  StreamId copy_in, all_gather, reduce_scatter;
  StreamId all_reduce;            // reduce_scatter where nothing is replicated
  std::optional<HostState> host;  // with CPUOffloadPolicy
};

// Buffers of one unit and which of its asynchronous operations are under way. `shard` has this rank's rows,
// `full` one tensor for each parameter.
struct UnitState : ShardedUnit {
  std::optional<ParameterId> last_with_gradient;
  std::optional<GroupId>
      forward_group;  // ranks over which parameters stay sharded after forward (an integer setting)

  BufferId cast;  // the shard in the compute dtype on the device; the shard itself where it is that
  std::vector<BufferId> arrived;      // with CPUOffloadPolicy: each parameter's shard on the device as it is
                                      // stored, where it is converted next
  BufferId gathered;                  // gather output, rank by rank
  BufferId kept;                      // this rank's part over forward_group
  BufferId kept_cast, kept_gathered;  // input and output of the gather over forward_group
  BufferId reduce_input;
  BufferId partial;            // reduced over the shards, not yet over the replicas
  BufferId converted;          // with CPUOffloadPolicy: `reduced` in the stored dtype, on the device
  std::vector<BufferId> more;  // likewise: each parameter's gradient on the host, to be added to `gradient`
  std::optional<InstructionId> offloaded;  // likewise: the copy to the host that nobody has awaited yet

  bool gathering = false;                       // unshard was called, its result not yet waited for
  std::optional<InstructionId> all_gather;      // what gathers it; none in a group of one
  std::optional<InstructionId> resharded;       // to forward_group, which later gathers wait for
  std::optional<InstructionId> unpack;          // what reads the gather output that is still alive
  std::optional<InstructionId> reduce_scatter;  // whose input is still alive
  bool posted = false;                          // post_backward ran in this backward
};

// The buffers of one FSDP2 parameter group.

// In the setup plan only what lives across steps; it is initialised there.
UnitState declare_group(StepBuilder& builder, UnitId unit, const Scenario& scenario, const Mesh& mesh,
                        const Streams& streams);

}  // namespace shardlab::fsdp2

// What FSDP1 keeps per handle (flat parameter), as buffers of a plan. Private to this folder.
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"
#include "engine/strategies/host_state.h"
#include "engine/strategies/step_builder.h"

namespace shardlab::fsdp1 {

struct Streams {
  StreamId pre_unshard, unshard, post_backward;
  StreamId all_reduce;            // compute where nothing is replicated
  std::optional<HostState> host;  // with CPUOffload(offload_params=True)
};

// What the settings of a scenario come to.
struct Settings {
  bool sharded = true;                 // false: NO_SHARD
  bool reshards_after_forward = true;  // FULL_SHARD, HYBRID_SHARD
  bool use_orig_params = true;
  int shards = 1;    // ranks of the process group: those that shard, or all without sharding
  int replicas = 1;  // of the shards
  DType stored = DType::float32;
};

// Buffers of one unit and what its handle remembers.
struct FlatUnit {
  bool has_parameters = false;
  bool trained = false;    // the flat parameter requires a gradient: one of its parameters does
  bool reentrant = false;  // a reentrant checkpoint runs its backward
  DType stored_dtype, param, reduce;
  BufferId stored;         // shard of the flat parameter; the whole of it without sharding
  BufferId arrived;        // with CPUOffload: the shard on the device, as it is stored
  BufferId cast;           // the shard in the compute dtype
  BufferId full;           // gathered; without sharding the copy in the compute dtype, or `stored` itself
  BufferId gradient;       // reduced, in the stored dtype
  BufferId host_gradient;  // with CPUOffload: what `gradient` is copied to, there from the first forward on
  BufferId flat_gradient;  // what autograd leaves in .grad, unsharded
  BufferId new_flat_gradient;  // of this micro-batch, where .grad holds earlier ones
  BufferId cast_gradient;      // in the reduction dtype
  BufferId padded_gradient;    // copied to a multiple of the shards
  BufferId reduced;            // reduce-scatter output that is not yet the gradient
  BufferId stored_gradient;    // that output in the stored dtype, where it is added to earlier ones
  BufferId gradient_views;     // what use_orig_params takes for a moment where gradients are not synchronised

  bool on_device =
      false;  // the flat parameter is not this rank's shard: unsharded since it was last resharded
  bool prefetched = false;
  bool needs_pre_backward_unshard = false;
  bool casts() const { return param != stored_dtype; }
  std::optional<UnitId>
      prefetched_by;  // in forward: the unit before whose forward this one's views were made
};

// The buffers of one FSDP1 handle.

// In the setup plan only what lives across steps; it is initialised there.
FlatUnit declare_unit(StepBuilder& builder, UnitId unit, const Settings& settings, const Streams& streams);

// Elements of the flat parameter with its padding.
std::int64_t flat_elements(const StepBuilder& builder, UnitId unit, const Settings& settings);

}  // namespace shardlab::fsdp1

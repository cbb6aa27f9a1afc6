#include "engine/strategies/fsdp1/unshard.h"

#include <fmt/format.h>

namespace shardlab::fsdp1 {

void Unshard::begin_micro_batch() {
  b_.wait(streams_.unshard, StepBuilder::compute());
  b_.wait(streams_.pre_unshard, StepBuilder::compute());
}

void Unshard::unshard(UnitId unit) {
  FlatUnit& state = units_[unit.index()];
  if (!state.has_parameters) return;
  const bool gathers = settings_.sharded && !b_.is_live(state.full);
  if (streams_.host) {
    bring_in(state, unit);
  } else if (state.casts() && (gathers || !settings_.sharded)) {
    cast_shard(state, unit);
    b_.wait(streams_.unshard, streams_.pre_unshard);
  }
  events_.wait_if_full(streams_.unshard, unit);
  if (gathers) {
    gather(state, unit);
  } else if (streams_.host) {
    drop_input(state, unit);
  }
  state.on_device = true;
}

// CPUOffload (FlatParamHandle.pre_unshard): the shard comes as it is stored and is converted on the device,
// also for a unit whose parameters are there already; without a conversion only where it was resharded in
// between.
void Unshard::bring_in(FlatUnit& state, UnitId unit) {
  if (state.on_device && !state.casts()) return;
  emit_transfer(b_, unit, state.stored, state.arrived, streams_.pre_unshard);
  if (state.casts()) {
    cast_shard(state, unit);
    b_.free({state.arrived});
  }
  b_.wait(streams_.unshard, streams_.pre_unshard);
}

// Frees what a gather has read: the cast shard, or what came from the host.
void Unshard::drop_input(const FlatUnit& state, UnitId unit) {
  for (const BufferId input : {state.cast, streams_.host ? state.arrived : state.cast}) {
    if (!b_.is_live(input)) continue;
    Instruction drop;
    drop.kind = InstructionKind::Free;
    drop.stream = streams_.unshard;
    drop.unit = unit;
    drop.frees = {input};
    drop.recorded = true;
    b_.emit(std::move(drop));
  }
}

// Without sharding the cast copy is what compute reads; it may be there already.
void Unshard::cast_shard(FlatUnit& state, UnitId unit) {
  const BufferId target = settings_.sharded ? state.cast : state.full;
  Instruction cast;
  cast.kind = InstructionKind::Cast;
  cast.stream = streams_.pre_unshard;
  cast.unit = unit;
  cast.bytes = b_.plan().buffer(target).bytes();
  cast.reads = {streams_.host ? state.arrived : state.stored};
  cast.writes = {target};
  if (!b_.is_live(target)) cast.allocates = {target};
  b_.emit(std::move(cast));
}

void Unshard::gather(FlatUnit& state, UnitId unit) {
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = streams_.unshard;
  gather.unit = unit;
  gather.group = group_;
  gather.bytes = b_.plan().buffer(state.full).bytes();
  gather.reads = {state.casts() ? state.cast : streams_.host ? state.arrived : state.stored};
  gather.writes = gather.allocates = {state.full};
  b_.emit(std::move(gather));
  if (state.casts() || streams_.host) drop_input(state, unit);
}

void Unshard::reshard(UnitId unit, bool free, const std::string& where) {
  FlatUnit& state = units_[unit.index()];
  if (!state.has_parameters) return;
  state.prefetched = state.on_device = false;
  if (!settings_.sharded) {
    if (state.casts() && b_.is_live(state.full)) free_full(state, unit);
    return;
  }
  if (!free) return;
  const InstructionId freed =
      b_.is_live(state.full) ? free_full(state, unit) : *b_.last_on(StepBuilder::compute());
  events_.add(fmt::format("{}.{}", b_.partition().unit(unit).name, where), freed);
}

InstructionId Unshard::free_full(FlatUnit& state, UnitId unit) {
  Instruction release;
  release.kind = InstructionKind::Free;
  release.unit = unit;
  release.frees = {state.full};
  release.recorded = true;
  return b_.emit(std::move(release));
}

}  // namespace shardlab::fsdp1

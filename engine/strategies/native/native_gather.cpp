#include "engine/strategies/native/native_gather.h"

namespace shardlab::native {

void Gather::unshard(UnitId unit) {
  NativeUnit& state = units_[unit.index()];
  if (!state.has_parameters || b_.is_live(state.full)) return;
  if (state.casts()) state.gathered = cast(state, unit);
  if (mesh_.shards > 1) state.gathered = gather(state, unit);
}

// This rank's part, converted into its place.
InstructionId Gather::cast(const NativeUnit& state, UnitId unit) {
  Instruction cast;
  cast.kind = InstructionKind::Cast;
  cast.stream = streams_.gather;
  cast.unit = unit;
  cast.bytes = b_.plan().buffer(state.full).bytes() / mesh_.shards;
  cast.reads = {state.shard};
  cast.writes = cast.allocates = {state.full};
  return b_.emit(std::move(cast));
}

InstructionId Gather::gather(const NativeUnit& state, UnitId unit) {
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = streams_.gather;
  gather.unit = unit;
  gather.group = mesh_.shard;
  gather.bytes = b_.plan().buffer(state.full).bytes();
  gather.writes = {state.full};
  gather.reads = {state.casts() ? state.full : state.shard};
  if (!state.casts()) gather.allocates = {state.full};
  return b_.emit(std::move(gather));
}

void Gather::wait(UnitId unit) {
  NativeUnit& state = units_[unit.index()];
  if (!state.gathered) return;
  b_.wait(StepBuilder::compute(), *state.gathered);
  state.gathered.reset();
}

void Gather::reshard(UnitId unit) {
  const NativeUnit& state = units_[unit.index()];
  if (state.shares_memory() || !b_.is_live(state.full)) return;
  b_.free({state.full}, {*b_.last_on(StepBuilder::compute())});
}

}  // namespace shardlab::native

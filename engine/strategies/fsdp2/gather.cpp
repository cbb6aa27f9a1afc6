#include "engine/strategies/fsdp2/gather.h"

#include "engine/strategies/parameter_buffers.h"

namespace shardlab::fsdp2 {

void Gather::begin_forward() {
  b_.wait(streams_.copy_in, StepBuilder::compute());
  b_.wait(streams_.all_gather, StepBuilder::compute());
}

void Gather::unshard(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!state.has_parameters || b_.is_live(state.full) || state.gathering) return;
  state.gathering = true;
  if (state.resharded) {
    b_.wait(streams_.copy_in, *state.resharded);
    b_.wait(streams_.all_gather, *state.resharded);
    state.resharded.reset();
  }
  if (mesh_.shards == 1) return;  // copied out of the shard without a gather
  const bool kept = state.forward_group && b_.is_live(state.kept);
  const BufferId input = kept ? state.kept_cast : state.cast;
  const BufferId target = kept ? state.kept_gathered : state.gathered;
  const InstructionId copied = copy_in(state, unit, kept ? state.kept : state.shard, input, target);
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = streams_.all_gather;
  gather.unit = unit;
  gather.group = kept ? *state.forward_group : mesh_.shard;
  gather.bytes = b_.plan().buffer(target).bytes();
  gather.reads = gather.writes = {target};
  gather.waits = {copied};
  state.all_gather = b_.emit(std::move(gather));
  if (!kept && input != state.shard) b_.free({input});
  if (kept && input != state.kept) b_.free({input});
}

// CPUOffloadPolicy (FSDPParam.all_gather_inputs): parameter by parameter the shard comes as it is stored and
// is converted on the device. Returns what is then gathered.
void Gather::bring_in(UnitState& state, UnitId unit, StreamId stream) {
  if (state.arrived.empty()) {
    emit_transfer(b_, unit, state.shard, state.cast, stream);
    return;
  }
  for (const BufferId arrived : state.arrived) {
    emit_transfer(b_, unit, state.shard, arrived, stream);
    Instruction convert = make_copy(b_, unit, {arrived}, {state.cast});
    convert.stream = stream;
    convert.bytes = bytes_of(b_.plan().buffer(arrived).elements, state.param);
    if (!b_.is_live(state.cast)) convert.allocates = {state.cast};
    b_.emit(std::move(convert));
    b_.free({arrived});
  }
}

InstructionId Gather::copy_in(UnitState& state, UnitId unit, BufferId source, BufferId cast,
                              BufferId target) {
  if (streams_.host && source == state.shard) {
    bring_in(state, unit, streams_.copy_in);
  } else if (cast != source) {
    Instruction convert;
    convert.kind = InstructionKind::Cast;
    convert.stream = streams_.copy_in;
    convert.unit = unit;
    convert.bytes = b_.plan().buffer(cast).bytes();
    convert.reads = {source};
    convert.writes = convert.allocates = {cast};
    b_.emit(std::move(convert));
  }
  Instruction copy;
  copy.kind = InstructionKind::Copy;
  copy.stream = streams_.copy_in;
  copy.unit = unit;
  copy.bytes = b_.plan().buffer(cast).bytes();
  copy.reads = {cast};
  copy.writes = copy.allocates = {target};
  return b_.emit(std::move(copy));
}

BufferId Gather::output(const UnitState& state) const {
  return state.forward_group && b_.is_live(state.kept_gathered) ? state.kept_gathered : state.gathered;
}

bool Gather::copy_out(UnitState& state, UnitId unit) {
  if (!state.gathering) return false;
  Instruction unpack;
  unpack.kind = InstructionKind::Unpack;
  unpack.unit = unit;
  unpack.bytes = b_.plan().buffer(state.full).bytes();
  // In a group of one there is no gather: what would be its input is copied.
  const bool alone = mesh_.shards == 1;
  if (alone && streams_.host) bring_in(state, unit, StepBuilder::compute());
  unpack.reads = {!alone ? output(state) : streams_.host ? state.cast : state.shard};
  unpack.writes = unpack.allocates = {state.full};
  if (state.all_gather) unpack.waits = {*state.all_gather};
  state.unpack = b_.emit(std::move(unpack));
  if (alone && streams_.host) b_.free({state.cast});
  state.all_gather.reset();
  state.gathering = false;
  if (state.forward_group && b_.is_live(state.kept)) b_.free({state.kept});
  return true;
}

void Gather::wait_in_forward(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!copy_out(state, unit)) return;
  drop_last_output();
  if (mesh_.shards > 1) previous_ = &state;
}

void Gather::wait_in_backward(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (copy_out(state, unit) && mesh_.shards > 1) drop_output(state);
}

void Gather::drop_last_output() {
  if (previous_ != nullptr) drop_output(*previous_);
  previous_ = nullptr;
}

void Gather::drop_output(UnitState& state) {
  b_.free({output(state)}, {*state.unpack});
  state.unpack.reset();
}

void Gather::reshard_after_forward(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!state.reshard_after_forward || !state.has_parameters) return;
  if (state.forward_group) {
    Instruction keep;
    keep.kind = InstructionKind::Copy;
    keep.unit = unit;
    keep.bytes = b_.plan().buffer(state.kept).bytes();
    keep.reads = {state.full};
    keep.writes = keep.allocates = {state.kept};
    state.resharded = b_.emit(std::move(keep));
  }
  reshard(unit);
}

void Gather::reshard(UnitId unit) {
  const UnitState& state = units_[unit.index()];
  if (b_.is_live(state.full)) b_.free({state.full});
}

void Gather::drop_unused(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (state.forward_group && b_.is_live(state.kept)) b_.free({state.kept});
  if (!state.gathering) return;
  state.gathering = false;
  if (!state.all_gather) return;
  Instruction drop;
  drop.kind = InstructionKind::Free;
  drop.unit = unit;
  drop.frees = {output(state)};
  drop.waits = {*state.all_gather};
  b_.emit(std::move(drop));
  state.all_gather.reset();
}

}  // namespace shardlab::fsdp2

#include "engine/strategies/fsdp2/gather.h"

namespace shardlab::fsdp2 {

void Gather::begin_micro_batch() {
  entry_waits_.clear();
  if (const auto last = b_.last_on(StepBuilder::compute())) entry_waits_.push_back(*last);
}

void Gather::unshard(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!state.has_parameters || b_.is_live(state.full) || state.all_gather) return;
  const InstructionId copied = copy_in(state, unit);
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = streams_.all_gather;
  gather.unit = unit;
  gather.group = group_;
  gather.bytes = b_.plan().buffer(state.gathered).bytes();
  gather.reads = gather.writes = {state.gathered};
  gather.waits = {copied};
  state.all_gather = b_.emit(std::move(gather));
  if (precision_.param != precision_.stored) b_.free({state.cast});
}

InstructionId Gather::copy_in(UnitState& state, UnitId unit) {
  std::vector<InstructionId> waits = std::exchange(entry_waits_, {});
  if (precision_.param != precision_.stored) {
    Instruction cast;
    cast.kind = InstructionKind::Cast;
    cast.stream = streams_.copy_in;
    cast.unit = unit;
    cast.bytes = b_.plan().buffer(state.cast).bytes();
    cast.reads = {state.shard};
    cast.writes = cast.allocates = {state.cast};
    cast.waits = std::exchange(waits, {});
    b_.emit(std::move(cast));
  }
  Instruction copy;
  copy.kind = InstructionKind::Copy;
  copy.stream = streams_.copy_in;
  copy.unit = unit;
  copy.bytes = b_.plan().buffer(state.cast).bytes();
  copy.reads = {state.cast};
  copy.writes = copy.allocates = {state.gathered};
  copy.waits = std::move(waits);
  return b_.emit(std::move(copy));
}

bool Gather::copy_out(UnitState& state, UnitId unit) {
  if (!state.all_gather) return false;
  Instruction unpack;
  unpack.kind = InstructionKind::Unpack;
  unpack.unit = unit;
  unpack.bytes = b_.plan().buffer(state.full).bytes();
  unpack.reads = {state.gathered};
  unpack.writes = unpack.allocates = {state.full};
  unpack.waits = {*state.all_gather};
  state.unpack = b_.emit(std::move(unpack));
  state.all_gather.reset();
  return true;
}

void Gather::wait_in_forward(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!copy_out(state, unit)) return;
  drop_last_output();
  previous_ = &state;
}

void Gather::wait_in_backward(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (copy_out(state, unit)) drop_output(state);
}

void Gather::drop_last_output() {
  if (previous_ != nullptr) drop_output(*previous_);
  previous_ = nullptr;
}

void Gather::drop_output(UnitState& state) {
  b_.free({state.gathered}, {*state.unpack});
  state.unpack.reset();
}

void Gather::reshard(UnitId unit) {
  const UnitState& state = units_[unit.index()];
  if (b_.is_live(state.full)) b_.free({state.full});
}

}  // namespace shardlab::fsdp2

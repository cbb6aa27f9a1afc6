#include "engine/strategies/fsdp2/reduce.h"

#include <algorithm>

namespace shardlab::fsdp2 {

void Reduce::reduce(UnitId unit, const std::vector<BufferId>& gradients) {
  UnitState& state = units_[unit.index()];
  drop_previous_input();
  const InstructionId packed = pack(state, unit, gradients);
  std::vector<BufferId> dropped = gradients;
  const BufferId last = dropped.back();
  dropped.pop_back();
  if (!dropped.empty()) b_.free(std::move(dropped));
  scatter(state, unit, packed);
  b_.free({last});
  previous_ = &state;
}

InstructionId Reduce::pack(UnitState& state, UnitId unit, const std::vector<BufferId>& gradients) {
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.unit = unit;
  pack.bytes = b_.plan().buffer(state.reduce_input).bytes();
  pack.reads = gradients;
  pack.writes = pack.allocates = {state.reduce_input};
  return b_.emit(std::move(pack));
}

void Reduce::scatter(UnitState& state, UnitId unit, InstructionId packed) {
  const bool accumulate = b_.is_live(state.gradient);
  const bool direct = !accumulate && precision_.reduce == precision_.stored;
  Instruction scatter;
  scatter.kind = InstructionKind::ReduceScatter;
  scatter.stream = streams_.reduce_scatter;
  scatter.unit = unit;
  scatter.group = group_;
  scatter.reduce = ReduceOperation::average;
  scatter.bytes = b_.plan().buffer(state.reduce_input).bytes();
  scatter.reads = {state.reduce_input};
  scatter.writes = scatter.allocates = {direct ? state.gradient : state.reduced};
  scatter.waits = {packed};
  state.reduce_scatter = last_reduction_ = b_.emit(std::move(scatter));
  if (!direct) convert(state, unit, accumulate);
}

// From the reduce-scatter output to the sharded gradient: a cast, or a sum with what earlier micro-batches left.
void Reduce::convert(UnitState& state, UnitId unit, bool accumulate) {
  Instruction instruction;
  instruction.kind = accumulate ? InstructionKind::Accumulate : InstructionKind::Cast;
  instruction.stream = streams_.reduce_scatter;
  instruction.unit = unit;
  instruction.bytes = b_.plan().buffer(state.gradient).bytes();
  instruction.reads = {state.reduced};
  instruction.writes = {state.gradient};
  (accumulate ? instruction.reads : instruction.allocates).push_back(state.gradient);
  last_reduction_ = b_.emit(std::move(instruction));
  b_.free({state.reduced});
}

void Reduce::drop_previous_input() {
  if (previous_ == nullptr) return;
  b_.free({previous_->reduce_input}, {*previous_->reduce_scatter});
  previous_->reduce_scatter.reset();
  previous_ = nullptr;
}

void Reduce::finish() {
  if (previous_ == nullptr) return;
  b_.free({previous_->reduce_input}, {*last_reduction_});
  previous_->reduce_scatter.reset();
  previous_ = nullptr;
}

BufferId Reduce::unsharded_buffer(UnitId unit, BufferId gradient) {
  unsharded_.resize(units_.size());
  for (const Unsharded& known : unsharded_[unit.index()]) {
    if (known.gradient == gradient) return known.accumulated;
  }
  Buffer buffer = b_.plan().buffer(gradient);
  buffer.name.replace(0, std::string_view("grad").size(), "acc");
  buffer.dtype = precision_.reduce;
  const BufferId accumulated = b_.declare(std::move(buffer));
  unsharded_[unit.index()].push_back({gradient, accumulated});
  return accumulated;
}

void Reduce::accumulate_unsharded(UnitId unit, const std::vector<BufferId>& gradients) {
  for (const BufferId gradient : gradients) {
    const BufferId accumulated = unsharded_buffer(unit, gradient);
    const bool exists = b_.is_live(accumulated);
    Instruction instruction;
    instruction.kind = exists ? InstructionKind::Accumulate : InstructionKind::Cast;
    instruction.unit = unit;
    instruction.bytes = b_.plan().buffer(accumulated).bytes();
    instruction.reads = {gradient};
    instruction.writes = {accumulated};
    (exists ? instruction.reads : instruction.allocates).push_back(accumulated);
    b_.emit(std::move(instruction));
    b_.free({gradient});
  }
}

bool Reduce::has_unsharded(UnitId unit) const {
  if (unit.index() >= unsharded_.size()) return false;
  const auto& known = unsharded_[unit.index()];
  return std::any_of(known.begin(), known.end(), [&](const Unsharded& u) { return b_.is_live(u.accumulated); });
}

std::vector<BufferId> Reduce::take_unsharded(UnitId unit) {
  std::vector<BufferId> buffers;
  for (const Unsharded& known : unsharded_[unit.index()]) {
    if (b_.is_live(known.accumulated)) buffers.push_back(known.accumulated);
  }
  return buffers;
}

}  // namespace shardlab::fsdp2

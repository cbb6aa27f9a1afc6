#include "engine/strategies/fsdp2/reduce.h"

#include <algorithm>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab::fsdp2 {

void Reduce::reduce(UnitId unit, const std::vector<BufferId>& gradients, bool over_replicas) {
  UnitState& state = units_[unit.index()];
  drop_previous_input();
  drop_all_reduced(state);
  const InstructionId packed = pack(state, unit, gradients);
  std::vector<BufferId> dropped = gradients;
  const BufferId last = dropped.back();
  dropped.pop_back();
  if (!dropped.empty()) b_.free(std::move(dropped));
  const BufferId output = scatter(state, unit, packed, over_replicas);
  if (!over_replicas) {
    keep_partial(state, unit);
  } else {
    add_partial(state, unit, output);
    if (mesh_.replicate) all_reduce(unit, output);
    settle(state, unit, output);
  }
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

// The output is the gradient itself where nothing but an all-reduce in place is still to be done to it.
BufferId Reduce::scatter(UnitState& state, UnitId unit, InstructionId packed, bool over_replicas) {
  const bool direct =
      over_replicas && !b_.is_live(state.gradient) && state.reduce == state.stored && !streams_.host;
  const BufferId first_partial = b_.is_live(state.partial) ? state.reduced : state.partial;
  const BufferId output = direct ? state.gradient : over_replicas ? state.reduced : first_partial;
  Instruction scatter;
  scatter.kind = InstructionKind::ReduceScatter;
  scatter.stream = streams_.reduce_scatter;
  scatter.unit = unit;
  scatter.group = mesh_.shard;
  scatter.reduce = ReduceOperation::average;
  scatter.bytes = b_.plan().buffer(state.reduce_input).bytes();
  scatter.reads = {state.reduce_input};
  scatter.writes = scatter.allocates = {output};
  scatter.waits = {packed};
  state.reduce_scatter = b_.emit(std::move(scatter));
  return output;
}

void Reduce::accumulate(UnitId unit, BufferId from, BufferId to, StreamId stream) {
  Instruction instruction;
  instruction.kind = InstructionKind::Accumulate;
  instruction.stream = stream;
  instruction.unit = unit;
  instruction.bytes = b_.plan().buffer(to).bytes();
  instruction.reads = {from, to};
  instruction.writes = {to};
  b_.emit(std::move(instruction));
}

void Reduce::keep_partial(UnitState& state, UnitId unit) {
  if (!b_.is_live(state.reduced)) return;  // the output is the first part
  accumulate(unit, state.reduced, state.partial, streams_.reduce_scatter);
  b_.free({state.reduced});
}

void Reduce::add_partial(UnitState& state, UnitId unit, BufferId output) {
  if (!b_.is_live(state.partial)) return;
  accumulate(unit, state.partial, output, streams_.reduce_scatter);
  b_.free({state.partial});
}

void Reduce::all_reduce(UnitId unit, BufferId output) {
  b_.wait(streams_.all_reduce, streams_.reduce_scatter);
  emit_all_reduce(b_, unit, *mesh_.replicate, output, streams_.all_reduce);
}

// From the output to the sharded gradient: nothing, a cast, or a sum with what earlier micro-batches left.
void Reduce::settle(UnitState& state, UnitId unit, BufferId output) {
  if (output == state.gradient) return;
  if (streams_.host) return offload(state, unit, output);
  if (b_.is_live(state.gradient)) {
    accumulate(unit, output, state.gradient, settling_stream());
  } else {
    Instruction cast;
    cast.kind = InstructionKind::Cast;
    cast.stream = settling_stream();
    cast.unit = unit;
    cast.bytes = b_.plan().buffer(state.gradient).bytes();
    cast.reads = {output};
    cast.writes = cast.allocates = {state.gradient};
    b_.emit(std::move(cast));
  }
  if (!mesh_.replicate) b_.free({output});
}

// CPUOffloadPolicy (foreach_reduce): in the stored dtype to the host, on the stream of the reduction. What is
// on the device may go at once: later work of the stream comes after the copy.
void Reduce::offload(UnitState& state, UnitId unit, BufferId output) {
  if (state.converted != output) {
    Instruction convert = make_copy(b_, unit, {output}, {state.converted});
    convert.stream = settling_stream();
    convert.allocates = {state.converted};
    b_.emit(std::move(convert));
    if (!mesh_.replicate) b_.free({output});
  }
  if (b_.is_live(state.gradient)) {
    add_on_host(state, unit, state.converted);
  } else {
    state.offloaded = emit_transfer(b_, unit, state.converted, state.gradient, settling_stream());
    if (!streams_.host->pinned()) await_offloaded(unit);
  }
  // The output of an all-reduce is held.
  if (state.converted != output || !mesh_.replicate) b_.free({state.converted});
}

// A processor adds, so each parameter's copy is awaited.
void Reduce::add_on_host(UnitState& state, UnitId unit, BufferId from) {
  for (const BufferId more : state.more) {
    state.offloaded = emit_transfer(b_, unit, from, more, settling_stream());
    await_offloaded(unit);
    Instruction sum;
    sum.kind = InstructionKind::Accumulate;
    sum.stream = streams_.host->stream;
    sum.unit = unit;
    sum.bytes = b_.plan().buffer(more).bytes();
    sum.reads = {more, state.gradient};
    sum.writes = {state.gradient};
    b_.emit(std::move(sum));
    b_.free({more});
  }
}

void Reduce::await_offloaded(UnitId unit) {
  UnitState& state = units_[unit.index()];
  if (!state.offloaded) return;
  emit_host_wait(b_, streams_.host->stream, *state.offloaded);
  state.offloaded.reset();
}

void Reduce::drop_previous_input() {
  if (previous_ == nullptr) return;
  b_.free({previous_->reduce_input}, {*previous_->reduce_scatter});
  previous_->reduce_scatter.reset();
  previous_ = nullptr;
}

// The input of an all-reduce is held until the unit reduces again or backward ends.
void Reduce::drop_all_reduced(UnitState& state) {
  if (!mesh_.replicate || !state.has_parameters || !b_.is_live(state.reduced)) return;
  b_.wait(StepBuilder::compute(), streams_.all_reduce);
  Instruction drop;
  drop.kind = InstructionKind::Free;
  drop.unit = b_.plan().buffer(state.reduced).unit;
  drop.frees = {state.reduced};
  b_.emit(std::move(drop));
}

void Reduce::finish() {
  if (previous_ == nullptr) return;
  b_.wait(StepBuilder::compute(), streams_.reduce_scatter);
  if (mesh_.replicate) b_.wait(StepBuilder::compute(), streams_.all_reduce);
  for (UnitState& state : units_) drop_all_reduced(state);
  drop_previous_input();
}

BufferId Reduce::unsharded_buffer(UnitId unit, BufferId gradient) {
  unsharded_.resize(units_.size());
  for (const Unsharded& known : unsharded_[unit.index()]) {
    if (known.gradient == gradient) return known.accumulated;
  }
  Buffer buffer = b_.plan().buffer(gradient);
  buffer.name.replace(0, std::string_view("grad").size(), "acc");
  buffer.dtype = units_[unit.index()].reduce;
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
  return std::any_of(known.begin(), known.end(),
                     [&](const Unsharded& u) { return b_.is_live(u.accumulated); });
}

std::vector<BufferId> Reduce::take_unsharded(UnitId unit) {
  std::vector<BufferId> buffers;
  for (const Unsharded& known : unsharded_[unit.index()]) {
    if (b_.is_live(known.accumulated)) buffers.push_back(known.accumulated);
  }
  return buffers;
}

}  // namespace shardlab::fsdp2

#include "engine/strategies/fsdp1/reduce_gradient.h"

#include "engine/strategies/parameter_buffers.h"

namespace shardlab::fsdp1 {

Instruction ReduceGradient::convert(InstructionKind kind, UnitId unit, BufferId from, BufferId to,
                                    StreamId stream) const {
  Instruction instruction;
  instruction.kind = kind;
  instruction.stream = stream;
  instruction.unit = unit;
  instruction.bytes = b_.plan().buffer(to).bytes();
  instruction.reads = {from};
  instruction.writes = {to};
  (b_.is_live(to) ? instruction.reads : instruction.allocates).push_back(to);
  return instruction;
}

void ReduceGradient::release(UnitId unit, std::vector<BufferId> buffers, StreamId stream, bool recorded) {
  Instruction instruction;
  instruction.kind = InstructionKind::Free;
  instruction.stream = stream;
  instruction.unit = unit;
  instruction.frees = std::move(buffers);
  instruction.recorded = recorded;
  b_.emit(std::move(instruction));
}

void ReduceGradient::flatten(UnitId unit, std::vector<BufferId> gradients) {
  FlatUnit& state = units_[unit.index()];
  const std::optional<BufferId> held = held_gradient(state);
  const BufferId target = held ? state.new_flat_gradient : state.flat_gradient;
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.unit = unit;
  pack.bytes = b_.plan().buffer(target).bytes();
  pack.reads = gradients;
  pack.writes = pack.allocates = {target};
  b_.emit(std::move(pack));
  release(unit, std::move(gradients), StepBuilder::compute(), false);
  if (held) b_.emit(convert(InstructionKind::Accumulate, unit, target, *held, StepBuilder::compute()));
}

// What .grad holds when backward comes: gradients that were not synchronised, or, unsharded, any earlier
// ones.
std::optional<BufferId> ReduceGradient::held_gradient(const FlatUnit& state) const {
  if (b_.is_live(state.flat_gradient)) return state.flat_gradient;
  if (!settings_.sharded && b_.is_live(state.gradient)) return state.gradient;
  return std::nullopt;
}

void ReduceGradient::keep(UnitId unit) {
  FlatUnit& state = units_[unit.index()];
  if (settings_.use_orig_params && settings_.sharded) {
    Instruction views;
    views.kind = InstructionKind::Alloc;
    views.unit = unit;
    views.allocates = {state.gradient_views};
    b_.emit(std::move(views));
    release(unit, {state.gradient_views}, StepBuilder::compute(), false);
  }
  if (b_.is_live(state.new_flat_gradient))
    release(unit, {state.new_flat_gradient}, StepBuilder::compute(), false);
}

void ReduceGradient::reduce(UnitId unit) {
  FlatUnit& state = units_[unit.index()];
  b_.wait(streams_.post_backward, StepBuilder::compute());
  if (!settings_.sharded) return reduce_whole(state, unit);
  const BufferId cast_gradient = cast(state, unit, state.flat_gradient);
  const BufferId input = pad(state, unit, cast_gradient);
  const BufferId reduced = scatter(state, unit, input);
  if (replicate_) {
    b_.wait(streams_.all_reduce, streams_.post_backward);
    emit_all_reduce(b_, unit, *replicate_, reduced, streams_.all_reduce);
  }
  settle(state, unit, reduced);
  // CPUOffload (_offload_grad): not awaited before the end of backward, and until then held on the device.
  if (streams_.host) emit_transfer(b_, unit, state.gradient, state.host_gradient, settling_stream());
  if (input != cast_gradient) release(unit, {input}, streams_.post_backward, false);
  if (cast_gradient != state.flat_gradient) release(unit, {cast_gradient}, streams_.post_backward, false);
  for (const BufferId addend : {state.reduced, state.stored_gradient}) {
    if (b_.is_live(addend)) release(unit, {addend}, settling_stream(), replicate_.has_value());
  }
  drop_flat_gradient(state, unit);
}

void ReduceGradient::drop_flat_gradient(FlatUnit& state, UnitId unit) {
  release(unit, {state.flat_gradient}, StepBuilder::compute(), true);
  if (b_.is_live(state.new_flat_gradient))
    release(unit, {state.new_flat_gradient}, StepBuilder::compute(), false);
}

BufferId ReduceGradient::cast(FlatUnit& state, UnitId unit, BufferId gradient) {
  if (state.reduce == state.param) return gradient;
  b_.emit(convert(InstructionKind::Cast, unit, gradient, state.cast_gradient, streams_.post_backward));
  return state.cast_gradient;
}

BufferId ReduceGradient::pad(FlatUnit& state, UnitId unit, BufferId gradient) {
  if (b_.plan().buffer(gradient).elements == b_.plan().buffer(state.padded_gradient).elements)
    return gradient;
  b_.emit(convert(InstructionKind::Copy, unit, gradient, state.padded_gradient, streams_.post_backward));
  return state.padded_gradient;
}

// The output is the gradient itself where nothing more is to be done to it.
BufferId ReduceGradient::scatter(FlatUnit& state, UnitId unit, BufferId gradient) {
  const bool direct = state.reduce == state.stored_dtype && !b_.is_live(state.gradient);
  const BufferId output = direct ? state.gradient : state.reduced;
  Instruction scatter;
  scatter.kind = InstructionKind::ReduceScatter;
  scatter.stream = streams_.post_backward;
  scatter.unit = unit;
  scatter.group = shard_;
  scatter.reduce = ReduceOperation::average;
  scatter.bytes = b_.plan().buffer(gradient).bytes();
  scatter.reads = {gradient};
  scatter.writes = scatter.allocates = {output};
  b_.emit(std::move(scatter));
  return output;
}

// Into the gradient, in the stored dtype: nothing, a cast, or a sum with what earlier micro-batches left.
void ReduceGradient::settle(FlatUnit& state, UnitId unit, BufferId reduced) {
  if (reduced == state.gradient) return;
  const bool accumulates = b_.is_live(state.gradient);
  BufferId addend = reduced;
  if (state.reduce != state.stored_dtype) {
    addend = accumulates ? state.stored_gradient : state.gradient;
    b_.emit(convert(InstructionKind::Cast, unit, reduced, addend, settling_stream()));
    release(unit, {reduced}, settling_stream(), replicate_.has_value());
  }
  if (accumulates)
    b_.emit(convert(InstructionKind::Accumulate, unit, addend, state.gradient, settling_stream()));
}

// NO_SHARD: the whole flat gradient is reduced in place. Earlier reduced gradients in it are alike on all
// ranks and stay what they are.
void ReduceGradient::reduce_whole(FlatUnit& state, UnitId unit) {
  const bool holds_earlier = b_.is_live(state.gradient) && state.gradient != state.flat_gradient;
  const BufferId input = holds_earlier ? state.gradient : cast(state, unit, state.flat_gradient);
  emit_all_reduce(b_, unit, shard_, input, streams_.post_backward);
  if (input != state.gradient) {
    b_.emit(convert(InstructionKind::Cast, unit, input, state.gradient, streams_.post_backward));
    if (input != state.flat_gradient) release(unit, {input}, streams_.post_backward, false);
  }
  for (const BufferId done : {state.flat_gradient, state.new_flat_gradient}) {
    if (done != state.gradient && b_.is_live(done)) release(unit, {done}, StepBuilder::compute(), true);
  }
}

void ReduceGradient::finish() {
  b_.wait(StepBuilder::compute(), streams_.post_backward);
  if (replicate_) b_.wait(StepBuilder::compute(), streams_.all_reduce);
  if (streams_.host) finish_offloading();
}

void ReduceGradient::finish_offloading() {
  if (const auto last = b_.last_on(settling_stream())) emit_host_wait(b_, streams_.host->stream, *last);
  for (const FlatUnit& state : units_) {
    if (state.trained && b_.is_live(state.gradient)) b_.free({state.gradient});
  }
}

}  // namespace shardlab::fsdp1

#include "engine/strategies/native/native_reduce.h"

#include <utility>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab::native {

void Reduce::reduce(UnitId unit, const std::vector<BufferId>& gradients) {
  NativeUnit& state = units_[unit.index()];
  drop_previous_input();
  const BufferId input = input_of(state, unit, gradients);
  if (state.whole_gradient) return finish_whole(state, unit, input);
  const BufferId output = scatter(state, unit, input);
  previous_ = {input, *b_.last_on(streams_.reduce)};
  if (mesh_.replicate) emit_all_reduce(b_, unit, *mesh_.replicate, output, streams_.reduce);
  settle(state, unit, output);
}

void Reduce::keep(UnitId unit, const std::vector<BufferId>& gradients) {
  NativeUnit& state = units_[unit.index()];
  if (state.reduce != state.param) collect(state, unit, gradients);
}

BufferId Reduce::input_of(NativeUnit& state, UnitId unit, const std::vector<BufferId>& gradients) {
  if (is_written_in_place(state)) return gradients.front();
  collect(state, unit, gradients);
  return state.input;
}

// What one segment writes in the right dtype is the gradient itself.
void Reduce::finish_whole(NativeUnit& state, UnitId unit, BufferId gradient) {
  state.gradient = gradient;
  if (mesh_.replicate || updates_) b_.wait(streams_.reduce, StepBuilder::compute());
  if (mesh_.replicate) emit_all_reduce(b_, unit, *mesh_.replicate, gradient, streams_.reduce);
}

// Copied where nothing is yet, else added.
void Reduce::collect(NativeUnit& state, UnitId unit, const std::vector<BufferId>& gradients) {
  const bool adds = b_.is_live(state.input);
  Instruction collect;
  collect.kind = adds ? InstructionKind::Accumulate : InstructionKind::Pack;
  collect.unit = unit;
  collect.bytes = b_.plan().buffer(state.input).bytes();
  collect.reads = gradients;
  collect.writes = {state.input};
  (adds ? collect.reads : collect.allocates).push_back(state.input);
  b_.emit(std::move(collect));
  b_.free(gradients);
}

// The output is the gradient itself where nothing but an all-reduce in place is still to be done to it.
BufferId Reduce::scatter(NativeUnit& state, UnitId unit, BufferId input) {
  const bool direct = !b_.is_live(state.gradient) && state.reduce == state.stored;
  const BufferId output = direct ? state.gradient : state.reduced;
  Instruction scatter;
  scatter.kind = InstructionKind::ReduceScatter;
  scatter.stream = streams_.reduce;
  scatter.unit = unit;
  scatter.group = mesh_.shard;
  scatter.reduce = ReduceOperation::average;
  scatter.bytes = b_.plan().buffer(input).bytes();
  scatter.reads = {input};
  scatter.writes = scatter.allocates = {output};
  scatter.waits = {*b_.last_on(StepBuilder::compute())};
  b_.emit(std::move(scatter));
  return output;
}

// From the output to the sharded gradient: nothing, a cast, or a sum with what earlier micro-batches left.
void Reduce::settle(NativeUnit& state, UnitId unit, BufferId output) {
  if (output == state.gradient) return;
  const bool adds = b_.is_live(state.gradient);
  Instruction settle;
  settle.kind = adds ? InstructionKind::Accumulate : InstructionKind::Cast;
  settle.stream = streams_.reduce;
  settle.unit = unit;
  settle.bytes = b_.plan().buffer(state.gradient).bytes();
  settle.reads = {output};
  settle.writes = {state.gradient};
  (adds ? settle.reads : settle.allocates).push_back(state.gradient);
  b_.emit(std::move(settle));
  b_.free({output});
}

// Two inputs at most: the one that is being reduced and the one that backward writes.
void Reduce::drop_previous_input() {
  if (!previous_) return;
  b_.free({previous_->input}, {previous_->reader});
  previous_.reset();
}

// A gradient that compute owns goes when compute comes by next: it does not wait for the optimizer.
void Reduce::drop_updated(UnitId unit) {
  NativeUnit& state = units_[unit.index()];
  state.updated = true;
  if (state.whole_gradient) {
    previous_ = {state.gradient, *b_.last_on(streams_.reduce)};
  } else {
    b_.free({state.gradient});
  }
}

void Reduce::finish() {
  drop_previous_input();
  b_.wait(StepBuilder::compute(), streams_.reduce);
}

}  // namespace shardlab::native

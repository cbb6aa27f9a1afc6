#include "engine/strategies/segment_emitter.h"

#include <algorithm>
#include <utility>

namespace shardlab {

Instruction SegmentEmitter::make(InstructionKind kind, SegmentId id) const {
  const Segment& segment = partition_.segment(id);
  Instruction instruction;
  instruction.kind = kind;
  instruction.unit = segment.unit;
  instruction.segment = id;
  instruction.micro_batch = micro_batch_;
  instruction.reads = parameter_buffers(segment);
  return instruction;
}

void SegmentEmitter::emit(Instruction instruction) {
  const PassScope scope(b_, PlanPass::segments);
  b_.emit(std::move(instruction));
}

void SegmentEmitter::offload(SegmentId id) {
  const PassScope scope(b_, PlanPass::segments);
  offload_.send(id, micro_batch_);
}

void SegmentEmitter::forward(SegmentId id) {
  offload(id);
  const Segment& segment = partition_.segment(id);
  Instruction instruction = make(InstructionKind::Forward, id);
  for (const TensorId tensor : segment.inputs)
    instruction.reads.push_back(b_.value_buffer(tensor, micro_batch_));
  for (const TensorId tensor : segment.outputs)
    instruction.allocates.push_back(b_.value_buffer(tensor, micro_batch_));
  for (const TensorId tensor : segment.retained) {
    const BufferId buffer = b_.value_buffer(tensor, micro_batch_);
    auto& made = instruction.allocates;
    if (std::find(made.begin(), made.end(), buffer) == made.end()) made.push_back(buffer);
  }
  const bool keeps = segment.programs.has_backward() && !segment.programs.recomputed;
  if (keeps) instruction.allocates.push_back(b_.saved_buffer(id, micro_batch_));
  instruction.writes = instruction.allocates;
  for (const TensorId tensor : segment.programs.forward_frees)
    instruction.frees.push_back(b_.value_buffer(tensor, micro_batch_));
  emit(std::move(instruction));
}

void SegmentEmitter::recompute(SegmentId id) {
  const Segment& segment = partition_.segment(id);
  if (segment.programs.recompute.steps.empty()) return;
  Instruction instruction = make(InstructionKind::Recompute, id);
  for (const TensorId tensor : segment.inputs) instruction.reads.push_back(value_buffer(segment, tensor));
  for (const TensorId tensor : segment.programs.recomputed_outputs) {
    instruction.allocates.push_back(b_.recomputed_buffer(tensor, micro_batch_));
  }
  if (segment.programs.has_backward()) instruction.allocates.push_back(b_.saved_buffer(id, micro_batch_));
  instruction.writes = instruction.allocates;
  for (const TensorId tensor : segment.retained)
    instruction.reads.push_back(b_.value_buffer(tensor, micro_batch_));
  for (const TensorId tensor : segment.programs.recompute_frees)
    instruction.frees.push_back(b_.value_buffer(tensor, micro_batch_));
  emit(std::move(instruction));
}

void SegmentEmitter::backward(SegmentId id) {
  const Segment& segment = partition_.segment(id);
  Instruction instruction = make(InstructionKind::Backward, id);
  if (!segment.programs.keeper().steps.empty()) {
    const BufferId saved = b_.saved_buffer(id, micro_batch_);
    instruction.reads.push_back(saved);
    instruction.frees.push_back(saved);
  }
  for (const TensorId tensor : segment.programs.backward_reads)
    instruction.reads.push_back(value_buffer(segment, tensor));
  for (const TensorId tensor : segment.programs.backward_frees)
    instruction.frees.push_back(b_.value_buffer(tensor, micro_batch_));
  for (const TensorId tensor : segment.programs.gradient_inputs) {
    instruction.reads.push_back(b_.gradient_buffer(tensor, micro_batch_));
    instruction.frees.push_back(instruction.reads.back());
  }
  hold_region_inputs(id, instruction);
  write_parameter_gradients(segment, instruction);
  for (const TensorId tensor : segment.programs.gradient_outputs)
    write(b_.gradient_buffer(tensor, micro_batch_), instruction);
  emit(std::move(instruction));
}

// A checkpoint holds what its function was called with until the last of its backward has run (torch 2.11,
// utils/checkpoint.py: _CheckpointFrame.input_saver; reentrant: ctx.saved_tensors). Of what waits in host
// memory a reentrant one holds the copy that came back, the other none.
void SegmentEmitter::hold_region_inputs(SegmentId id, Instruction& backward) {
  const Segment& segment = partition_.segment(id);
  if (!segment.region || partition_.region(*segment.region).first != id) return;
  for (const TensorId tensor : segment.inputs) {
    if (graph_.tensor(tensor).role != TensorRole::activation) continue;
    if (offload_.holds(segment, tensor) && !partition_.region(*segment.region).operators.reentrant) continue;
    const BufferId buffer = value_buffer(segment, tensor);
    auto& reads = backward.reads;
    if (std::find(reads.begin(), reads.end(), buffer) == reads.end()) reads.push_back(buffer);
  }
}

void SegmentEmitter::drop_recomputed_outputs(const Region& region) {
  if (!region.operators.reentrant || region.outputs.empty()) return;
  std::vector<BufferId> outputs;
  for (const TensorId tensor : region.outputs) outputs.push_back(b_.recomputed_buffer(tensor, micro_batch_));
  const PassScope scope(b_, PlanPass::segments);
  b_.free(std::move(outputs));
}

// What a checkpointed region makes is made again for its own backward; what it was called with may have to
// come back.
BufferId SegmentEmitter::value_buffer(const Segment& reader, TensorId tensor) {
  if (offload_.holds(reader, tensor)) {
    const PassScope scope(b_, PlanPass::segments);
    return offload_.bring_back(tensor, micro_batch_);
  }
  const bool made_inside =
      reader.region && partition_.is_made_again_in(partition_.region(*reader.region), tensor);
  return made_inside ? b_.recomputed_buffer(tensor, micro_batch_) : b_.value_buffer(tensor, micro_batch_);
}

// Buffers of the units whose parameters the segment uses.
std::vector<BufferId> SegmentEmitter::parameter_buffers(const Segment& segment) const {
  std::vector<BufferId> buffers;
  for (const ParameterId parameter : segment.parameters) {
    const UnitId unit = partition_.unit_of_parameter[parameter.index()];
    const BufferId buffer = strategies_.owner(unit).compute_parameter(parameter);
    if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
  }
  return buffers;
}

void SegmentEmitter::write_parameter_gradients(const Segment& segment, Instruction& instruction) {
  for (const ParameterId parameter : segment.parameters) {
    if (!graph_.parameter(parameter).requires_grad) continue;
    const BufferId buffer = strategies_.student().gradient_buffer(parameter);
    const auto& writes = instruction.writes;
    if (std::find(writes.begin(), writes.end(), buffer) == writes.end()) write(buffer, instruction);
  }
}

// A gradient that is alive is added to, hence read as well.
void SegmentEmitter::write(BufferId buffer, Instruction& instruction) const {
  instruction.writes.push_back(buffer);
  (b_.is_live(buffer) ? instruction.reads : instruction.allocates).push_back(buffer);
}

}  // namespace shardlab

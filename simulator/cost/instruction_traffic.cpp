#include "simulator/cost/instruction_traffic.h"

#include <algorithm>
#include <cmath>

#include "engine/model/operators/operator_list.h"
#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/train_spec.h"
#include "simulator/cost/trained_part.h"

namespace shardlab {
namespace {

// The name under which an instruction's traffic is calibrated; empty for those that move nothing.
std::string_view name_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Cast:
    case InstructionKind::Quantize: return k_cast.name;
    case InstructionKind::Pack: return "pack";
    case InstructionKind::Unpack: return "unpack";
    case InstructionKind::Copy: return "copy";
    case InstructionKind::Accumulate: return "accumulate";
    case InstructionKind::CheckFinite:
    case InstructionKind::GradientNorms: return "gradient_norms";
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients: return "clip_gradients";
    case InstructionKind::OptimizerStep: return "optimizer";
    case InstructionKind::Initialize: return "initialize";
    case InstructionKind::LoadBatch: return "load_batch";
    default: return {};
  }
}

// How many separate copies or kernels the real executor makes on a CPU (execute/torch/instructions): buffers
// that lie alike are one piece, others one a parameter and, where all ranks' shards stand side by side, a
// rank.
std::int64_t count_pieces(const StepPlan& plan, const Instruction& instruction) {
  std::size_t parameters = 0;
  std::size_t gradients = 0;
  bool gathered = false;
  for (const BufferId id : instruction.reads) {
    const Buffer& buffer = plan.buffer(id);
    const bool gradient =
        buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard;
    gradients += gradient ? 1 : 0;
    parameters += buffer.parameters.size();
    gathered = gathered || buffer.layout == BufferLayout::gathered_row_shards;
  }
  for (const BufferId id : instruction.writes)
    gathered = gathered || plan.buffer(id).layout == BufferLayout::gathered_row_shards;
  std::size_t pieces = 1;
  switch (instruction.kind) {
    case InstructionKind::Pack:
    case InstructionKind::Unpack:
      pieces = parameters * (gathered ? static_cast<std::size_t>(plan.world_size) : 1);
      break;
    case InstructionKind::GradientNorms: pieces = parameters; break;
    case InstructionKind::CheckFinite:
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients:
    case InstructionKind::OptimizerStep: pieces = gradients; break;
    default: break;
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(pieces), 1);
}

// Fused kernels go once over what the instruction names, a piece at a time; the others are several kernels a
// tensor, each of which reads and writes memory. Frozen parameters are not touched.
void add_optimizer(const ModelGraph& graph, const StepPlan& plan, const Instruction& instruction,
                   const TrainSpec& train, Traffic& traffic) {
  const OptimizerRule rule = optimizer_rule(train);
  const bool in_place = updates_by_bitsandbytes(train);
  const bool fused = train.optimizer_implementation == OptimizerImplementation::fused || in_place;
  const bool by_tensor = train.optimizer_implementation == OptimizerImplementation::loop || in_place;
  std::int64_t tensors = 0;
  const auto touched = [&](const Buffer& buffer) {
    return Bytes{std::llround(static_cast<double>(buffer.bytes().value) * trained_part(graph, buffer).share)};
  };
  for (const BufferId id : instruction.writes) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class == BufferClass::parameter ||
        buffer.buffer_class == BufferClass::parameter_shard) {
      if (!fused) traffic.bytes += touched(buffer) * rule.passes;
      tensors += trained_part(graph, buffer).tensors;
    }
    if (fused) traffic.bytes += touched(buffer);
  }
  if (fused) {
    for (const BufferId id : instruction.reads) traffic.bytes += touched(plan.buffer(id));
    if (in_place) traffic.pieces = tensors;
  } else {
    traffic.pieces = (by_tensor ? tensors : traffic.pieces) * rule.kernels;
  }
}

Traffic traffic_of(const ModelGraph& graph, const StepPlan& plan, const Instruction& instruction,
                   const TrainSpec& train) {
  Traffic traffic;
  traffic.pieces = count_pieces(plan, instruction);
  switch (instruction.kind) {
    case InstructionKind::CheckFinite:
    case InstructionKind::GradientNorms: traffic.bytes = instruction.bytes; break;
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients: traffic.bytes = instruction.bytes * 2; break;
    case InstructionKind::Initialize:
    case InstructionKind::Quantize:
    case InstructionKind::LoadBatch: traffic.bytes = instruction.bytes; break;
    case InstructionKind::OptimizerStep: add_optimizer(graph, plan, instruction, train, traffic); break;
    default: {  // copies: each element written was read, in its source's width; sums read the target too
      const DType from = plan.buffer(instruction.reads.front()).dtype;
      const DType to = plan.buffer(instruction.writes.front()).dtype;
      const std::int64_t elements = instruction.bytes.value / element_size(to);
      traffic.bytes = instruction.bytes + bytes_of(elements, from);
      if (instruction.kind == InstructionKind::Accumulate) traffic.bytes += instruction.bytes;
    }
  }
  return traffic;
}

}  // namespace

std::optional<InstructionTraffic> traffic_of_instruction(const ModelGraph& graph, const StepPlan& plan,
                                                         const Instruction& instruction,
                                                         const TrainSpec& train) {
  const std::string_view name = name_of(instruction.kind);
  if (name.empty()) return std::nullopt;
  return InstructionTraffic{name, traffic_of(graph, plan, instruction, train)};
}

}  // namespace shardlab

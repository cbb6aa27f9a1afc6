#include "simulator/cost/instruction_traffic.h"

#include <algorithm>

namespace shardlab {
namespace {

// The name under which an instruction's traffic is calibrated; empty for those that move nothing.
std::string_view name_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Cast:
      return "cast";
    case InstructionKind::Pack:
      return "pack";
    case InstructionKind::Unpack:
      return "unpack";
    case InstructionKind::Quantize:
      return "cast";
    case InstructionKind::Copy:
      return "copy";
    case InstructionKind::Accumulate:
      return "accumulate";
    case InstructionKind::GradientNorms:
      return "gradient_norms";
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients:
      return "clip_gradients";
    case InstructionKind::OptimizerStep:
      return "optimizer";
    case InstructionKind::Initialize:
      return "initialize";
    case InstructionKind::LoadBatch:
      return "load_batch";
    default:
      return {};
  }
}

// How many separate copies or kernels the real executor makes on a CPU (execute/torch/instructions): buffers
// that lie alike are one piece, others one a parameter and, where all ranks' shards stand side by side, a
// rank.
std::int64_t pieces_of(const StepPlan& plan, const Instruction& instruction) {
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
    case InstructionKind::GradientNorms:
      pieces = parameters;
      break;
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients:
    case InstructionKind::OptimizerStep:
      pieces = gradients;
      break;
    default:
      break;
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(pieces), 1);
}

Traffic traffic_of(const StepPlan& plan, const Instruction& instruction) {
  Traffic traffic;
  traffic.pieces = pieces_of(plan, instruction);
  const auto add = [&](const std::vector<BufferId>& buffers) {
    for (const BufferId buffer : buffers) traffic.bytes += plan.buffer(buffer).bytes();
  };
  switch (instruction.kind) {
    case InstructionKind::GradientNorms:
      traffic.bytes = instruction.bytes;
      break;
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients:
      traffic.bytes = instruction.bytes * 2;
      break;
    case InstructionKind::Initialize:
    case InstructionKind::LoadBatch:
      traffic.bytes = instruction.bytes;
      break;
    case InstructionKind::OptimizerStep:
      add(instruction.reads);
      add(instruction.writes);
      break;
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

std::optional<InstructionTraffic> traffic_of_instruction(const StepPlan& plan,
                                                         const Instruction& instruction) {
  const std::string_view name = name_of(instruction.kind);
  if (name.empty()) return std::nullopt;
  return InstructionTraffic{name, traffic_of(plan, instruction)};
}

}  // namespace shardlab

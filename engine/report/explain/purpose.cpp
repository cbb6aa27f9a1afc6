#include "engine/report/explain/purpose.h"

namespace shardlab {

std::string_view purpose_of(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::Forward:
      return "Runs the operators of a segment and keeps what its backward needs.";
    case InstructionKind::Recompute:
      return "Runs operators of a forward again, because their results were not kept.";
    case InstructionKind::Backward:
      return "Runs a segment backwards: gradients of its inputs and parameters; frees what forward kept.";
    case InstructionKind::AllGather:
      return "Collects the slices of all ranks, so that every rank holds the whole.";
    case InstructionKind::ReduceScatter:
      return "Adds up what all ranks hold and leaves each rank its slice of the result.";
    case InstructionKind::Reduce: return "Adds up what all ranks hold, on one rank.";
    case InstructionKind::AllReduce: return "Adds up what all ranks hold, on every rank.";
    case InstructionKind::Broadcast: return "Sends what one rank holds to the others.";
    case InstructionKind::AllToAll: return "Every rank sends a part to every other rank.";
    case InstructionKind::Cast: return "Converts to another element type.";
    case InstructionKind::Pack: return "Copies parameters' pieces into one buffer for communication.";
    case InstructionKind::Unpack: return "Copies parameters' pieces out of a communication buffer.";
    case InstructionKind::Quantize: return "Converts to a coded element type with scales.";
    case InstructionKind::Copy: return "Copies.";
    case InstructionKind::Accumulate: return "Adds to what is there.";
    case InstructionKind::Alloc: return "Takes memory, at its place in the host's order.";
    case InstructionKind::Free: return "Gives memory back, at its place in the host's order.";
    case InstructionKind::HostWait:
      return "Blocks the host until earlier work is done; nothing later is issued meanwhile.";
    case InstructionKind::GradientNorms:
      return "Squares and sums the gradients this rank holds, parameter by parameter.";
    case InstructionKind::Unscale: return "Divides the gradients by the loss scale.";
    case InstructionKind::ClipGradients:
      return "Scales the gradients down to the norm that the scenario allows.";
    case InstructionKind::OptimizerStep: return "Updates parameters and optimizer states from the gradients.";
    case InstructionKind::ZeroGradients: return "Drops the gradients of this step.";
    case InstructionKind::Initialize: return "Fills parameters from the seed or from a file.";
    case InstructionKind::LoadBatch: return "Brings the next micro-batch of tokens.";
    case InstructionKind::Marker: return "Marks a point of the step.";
  }
  return "";
}

}  // namespace shardlab

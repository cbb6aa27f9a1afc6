#include "simulator/cost/gpu_kernels.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/optimizer_rule.h"
#include "engine/scenario/train_spec.h"
#include "simulator/cost/trained_part.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_chunk_elements = 65536;
constexpr std::int64_t k_launch_chunks = 320;
// Most tensors of one launch by how many lists the operator goes over.
constexpr std::int64_t k_one_list = 110;    // norms, scaling
constexpr std::int64_t k_three_lists = 48;  // most operators of a foreach step
constexpr std::int64_t k_four_lists = 36;   // a fused step: parameters, gradients, two states

struct Tensors {
  std::int64_t count = 0;
  std::int64_t elements = 0;
};

bool is_flat(BufferLayout layout) {
  return layout == BufferLayout::flat || layout == BufferLayout::flat_shard ||
         layout == BufferLayout::trained_flat_shard || layout == BufferLayout::flat_range;
}

void add(const Buffer& buffer, Tensors& tensors) {
  tensors.count += is_flat(buffer.layout) ? 1 : static_cast<std::int64_t>(buffer.parameters.size());
  tensors.elements += buffer.bytes().value / element_size(buffer.dtype);
}

void add_trained(const ModelGraph& graph, const Buffer& buffer, Tensors& tensors) {
  const TrainedPart part = trained_part(graph, buffer);
  const auto elements = static_cast<double>(buffer.bytes().value / element_size(buffer.dtype));
  tensors.count += is_flat(buffer.layout) ? 1 : part.tensors;
  tensors.elements += std::llround(elements * part.share);
}

Tensors parameters_written(const ModelGraph& graph, const StepPlan& plan, const Instruction& instruction) {
  Tensors tensors;
  for (const BufferId id : instruction.writes) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class == BufferClass::parameter || buffer.buffer_class == BufferClass::parameter_shard)
      add_trained(graph, buffer, tensors);
  }
  return tensors;
}

Tensors gradients_read(const StepPlan& plan, const Instruction& instruction) {
  Tensors tensors;
  for (const BufferId id : instruction.reads) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard)
      add(buffer, tensors);
  }
  return tensors;
}

std::int64_t launches(const Tensors& tensors, std::int64_t most_tensors) {
  const std::int64_t chunks = tensors.elements / k_chunk_elements + tensors.count;
  return std::max({(tensors.count + most_tensors - 1) / most_tensors,
                   (chunks + k_launch_chunks - 1) / k_launch_chunks, std::int64_t{1}});
}

// What adds more than it writes adds several parts, one by one.
std::int64_t parts_added(const StepPlan& plan, const Instruction& instruction) {
  Bytes written;
  for (const BufferId id : instruction.writes) written += plan.buffer(id).bytes();
  return std::max<std::int64_t>(instruction.bytes.value / std::max<std::int64_t>(written.value, 1), 1);
}

std::int64_t optimizer_kernels(const Tensors& tensors, const TrainSpec& train) {
  const OptimizerRule rule = optimizer_rule(train);
  switch (train.optimizer_implementation) {
    case OptimizerImplementation::fused: return launches(tensors, k_four_lists);
    case OptimizerImplementation::foreach: return rule.kernels * launches(tensors, k_three_lists);
    case OptimizerImplementation::loop: return rule.kernels * std::max<std::int64_t>(tensors.count, 1);
  }
  return 1;
}

}  // namespace

std::int64_t gpu_kernels(const ModelGraph& graph, const StepPlan& plan, const Instruction& instruction,
                         const TrainSpec& train, bool copies_each_gradient) {
  switch (instruction.kind) {
    case InstructionKind::Pack:
      return copies_each_gradient ? std::max<std::int64_t>(gradients_read(plan, instruction).count, 1) : 1;
    case InstructionKind::Accumulate: return parts_added(plan, instruction);
    case InstructionKind::OptimizerStep:
      return optimizer_kernels(parameters_written(graph, plan, instruction), train);
    case InstructionKind::GradientNorms:  // a norm a tensor, then their stack and its norm
      return launches(gradients_read(plan, instruction), k_one_list) + 2;
    case InstructionKind::CheckFinite:
    case InstructionKind::Unscale:
    case InstructionKind::ClipGradients: return launches(gradients_read(plan, instruction), k_one_list);
    default: return 1;
  }
}

}  // namespace shardlab

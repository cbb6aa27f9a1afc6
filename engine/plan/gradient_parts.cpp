#include "engine/plan/gradient_parts.h"

#include <algorithm>

namespace shardlab {
namespace {

// The first step whose operator has the parameter.
std::size_t first_writer(const ModelGraph& graph, const Program& program, ParameterId parameter) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    if (step.kind != StepKind::backward) continue;
    const auto& used = graph.op(step.op).parameters;
    if (std::find(used.begin(), used.end(), parameter) != used.end()) return i;
  }
  return 0;
}

}  // namespace

std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      const Instruction& backward, const Program& program) {
  std::vector<std::vector<GradientPart>> parts(program.steps.size());
  if (parts.empty()) return parts;
  for (const BufferId id : backward.allocates) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class != BufferClass::gradient) continue;
    std::size_t first = program.steps.size() - 1;
    for (std::size_t i = 0; i < buffer.parameters.size(); ++i) {
      const std::size_t step = first_writer(graph, program, buffer.parameters[i]);
      first = std::min(first, step);
      if (buffer.layout != BufferLayout::separate_parameters) continue;
      const Bytes bytes = bytes_of(graph.parameter(buffer.parameters[i]).elements(), buffer.dtype);
      parts[step].push_back({id, i, bytes});
    }
    if (buffer.layout != BufferLayout::separate_parameters) parts[first].push_back({id, 0, buffer.bytes()});
  }
  return parts;
}

}  // namespace shardlab

#include "engine/plan/gradient_parts.h"

#include <algorithm>
#include <map>

namespace shardlab {
namespace {

using FirstWriters = std::map<ParameterId, std::size_t>;

// The first step whose operator has the parameter, of every parameter that some step's has.
FirstWriters first_writers(const ModelGraph& graph, const Program& program) {
  FirstWriters first;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const ProgramStep& step = program.steps[i];
    if (step.kind != StepKind::backward) continue;
    for (const ParameterId parameter : graph.op(step.op).parameters) first.try_emplace(parameter, i);
  }
  return first;
}

}  // namespace

std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      const Instruction& backward, const Program& program) {
  std::vector<std::vector<GradientPart>> parts(program.steps.size());
  if (parts.empty()) return parts;
  const FirstWriters writers = first_writers(graph, program);
  for (const BufferId id : backward.allocates) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class != BufferClass::gradient) continue;
    std::size_t first = program.steps.size() - 1;
    for (std::size_t i = 0; i < buffer.parameters.size(); ++i) {
      const auto writer = writers.find(buffer.parameters[i]);
      const std::size_t step = writer == writers.end() ? 0 : writer->second;
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

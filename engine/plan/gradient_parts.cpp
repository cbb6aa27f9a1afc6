#include "engine/plan/gradient_parts.h"

#include <algorithm>
#include <utility>

namespace shardlab {
namespace {

// The first step whose operator has a parameter, of every parameter that some step's has.
class FirstWriters {
 public:
  FirstWriters(const ModelGraph& graph, const Program& program) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const ProgramStep& step = program.steps[i];
      if (step.kind != StepKind::backward) continue;
      for (const ParameterId parameter : graph.op(step.op).parameters) writers_.emplace_back(parameter, i);
    }
    std::sort(writers_.begin(), writers_.end());
  }

  // What no step writes comes with the first.
  std::size_t of(ParameterId parameter) const {
    const auto found =
        std::lower_bound(writers_.begin(), writers_.end(), std::pair(parameter, std::size_t{0}));
    return found != writers_.end() && found->first == parameter ? found->second : 0;
  }

 private:
  std::vector<std::pair<ParameterId, std::size_t>> writers_;  // sorted
};

}  // namespace

std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      std::span<const BufferId> made,
                                                      const Program& program) {
  std::vector<std::vector<GradientPart>> parts(program.steps.size());
  if (parts.empty()) return parts;
  const FirstWriters writers(graph, program);
  for (const BufferId id : made) {
    const Buffer& buffer = plan.buffer(id);
    if (buffer.buffer_class != BufferClass::gradient) continue;
    std::size_t first = program.steps.size() - 1;
    for (std::size_t i = 0; i < buffer.parameters.size(); ++i) {
      const std::size_t step = writers.of(buffer.parameters[i]);
      first = std::min(first, step);
      if (buffer.layout != BufferLayout::separate_parameters) continue;
      const Bytes bytes = bytes_of(graph.parameter(buffer.parameters[i]).elements(), buffer.dtype);
      parts[step].push_back({id, i, bytes});
    }
    if (buffer.layout != BufferLayout::separate_parameters) parts[first].push_back({id, 0, buffer.bytes()});
  }
  return parts;
}

std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      const Instruction& backward, const Program& program) {
  return gradient_parts(graph, plan, backward.allocates, program);
}

}  // namespace shardlab

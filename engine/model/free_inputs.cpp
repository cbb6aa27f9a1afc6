#include "engine/model/free_inputs.h"

#include <algorithm>
#include <optional>

#include "engine/model/wrap/module_sizes.h"

namespace shardlab {
namespace {

template <typename T>
bool contains(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_read_elsewhere(const Partition& partition, const Segment& reader, TensorId tensor) {
  return std::any_of(partition.segments.begin(), partition.segments.end(), [&](const Segment& segment) {
    if (contains(segment.programs.backward_reads, tensor)) return true;
    return &segment != &reader && contains(segment.inputs, tensor);
  });
}

// Whether the module runs in this segment alone. Its operators follow each other.
bool runs_only_in(const ModelGraph& graph, const Segment& segment, ModuleId module) {
  const auto belongs = [&](OperatorId op) { return lies_within(graph, graph.op(op).module, module); };
  const bool before = segment.begin.value > 0 && belongs(OperatorId{segment.begin.value - 1});
  const bool after = segment.end.index() < graph.operators.size() && belongs(segment.end);
  return !before && !after;
}

// The last operator of the segment that is within the module.
OperatorId last_operator_of(const ModelGraph& graph, const Segment& segment, ModuleId module) {
  OperatorId op{segment.end.value - 1};
  while (!lies_within(graph, graph.op(op).module, module)) --op.value;
  return op;
}

std::optional<OperatorId> last_reader(const ModelGraph& graph, const Segment& segment, TensorId tensor) {
  for (std::uint32_t at = segment.end.value; at > segment.begin.value; --at) {
    const auto& inputs = graph.op(OperatorId{at - 1}).inputs;
    if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) return OperatorId{at - 1};
  }
  return std::nullopt;
}

// With which operator the outermost module returns that lies in the segment and reads the tensor last.
std::optional<OperatorId> end_of_call(const ModelGraph& graph, const Segment& segment, TensorId tensor) {
  const std::optional<OperatorId> reader = last_reader(graph, segment, tensor);
  if (!reader) return std::nullopt;
  std::optional<ModuleId> called;
  for (std::optional<ModuleId> module = graph.op(*reader).module;
       module && runs_only_in(graph, segment, *module); module = graph.module(*module).parent)
    called = module;
  if (!called) return std::nullopt;
  return last_operator_of(graph, segment, *called);
}

void free_after(Program& program, OperatorId op, TensorId tensor) {
  const auto value = std::find_if(program.values.begin(), program.values.end(), [&](const ProgramValue& v) {
    return v.origin == ValueOrigin::tensor_buffer && v.tensor == tensor && !v.gradient;
  });
  const auto step = std::find_if(program.steps.begin(), program.steps.end(),
                                 [&](const ProgramStep& s) { return s.op == op; });
  step->frees.push_back(static_cast<ValueIndex>(value - program.values.begin()));
}

}  // namespace

void free_inputs_within_segments(const ModelGraph& graph, Partition& partition) {
  for (Segment& segment : partition.segments) {
    if (segment.region) continue;
    for (const TensorId tensor : segment.inputs) {
      if (graph.tensor(tensor).role != TensorRole::activation) continue;
      const std::optional<OperatorId> end = end_of_call(graph, segment, tensor);
      if (!end || end->value + 1 == segment.end.value || is_read_elsewhere(partition, segment, tensor))
        continue;
      free_after(segment.programs.forward, *end, tensor);
      segment.programs.forward_frees.push_back(tensor);
    }
    if (!segment.programs.forward_frees.empty())
      segment.programs.forward.peak = peak_of(segment.programs.forward);
  }
}

}  // namespace shardlab

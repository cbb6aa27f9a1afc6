#include <algorithm>

#include "engine/model/segment/lowering.h"

namespace shardlab {
namespace {

void count(std::vector<std::pair<TensorId, int>>& counts, TensorId tensor) {
  const auto found =
      std::find_if(counts.begin(), counts.end(), [&](const auto& entry) { return entry.first == tensor; });
  if (found == counts.end()) {
    counts.emplace_back(tensor, 1);
  } else {
    ++found->second;
  }
}

}  // namespace

SegmentDescriptions::SegmentDescriptions(const ModelGraph& graph, const SegmentBorders& borders)
    : begin_(borders.begin) {
  descriptions_.reserve(borders.end.index() - borders.begin.index());
  for (OperatorId id = borders.begin; id < borders.end; ++id.value) {
    const Operator& op = graph.op(id);
    const OperatorDescription& description = descriptions_.emplace_back(describe_operator(graph, op));
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (description.saved_inputs >> i & 1U) count(saved_, op.inputs[i]);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (description.saved_outputs >> i & 1U) count(saved_, op.outputs[i]);
    }
  }
}

int SegmentDescriptions::saving_operators(TensorId tensor) const {
  for (const auto& [saved, operators] : saved_) {
    if (saved == tensor) return operators;
  }
  return 0;
}

bool SegmentDescriptions::is_saved(TensorId tensor) const {
  return saving_operators(tensor) > 0;
}

Bytes peak_of(const Program& program) {
  Bytes live;
  Bytes peak;
  for (const ProgramStep& step : program.steps) {
    peak = std::max(peak, live + step.temporaries_before);
    for (const ValueIndex value : step.allocates) live += program.values[value].bytes;
    peak = std::max(peak, live + step.temporaries);
    for (const ValueIndex value : step.frees) live -= program.values[value].bytes;
  }
  return peak;
}

SegmentPrograms lower_segment(const ModelGraph& graph, const SegmentBorders& borders) {
  SegmentPrograms programs;
  const SegmentDescriptions descriptions(graph, borders);
  programs.recomputed = borders.recomputation.has_value();
  if (programs.recomputed) {
    lower_forward(graph, borders, descriptions, ForwardPass::unkept, programs);
    lower_forward(graph, borders, descriptions, ForwardPass::recomputing, programs);
  } else {
    lower_forward(graph, borders, descriptions, ForwardPass::keeping, programs);
  }
  lower_backward(graph, borders, descriptions, programs);
  programs.forward.peak = peak_of(programs.forward);
  programs.recompute.peak = peak_of(programs.recompute);
  programs.backward.peak = peak_of(programs.backward);
  return programs;
}

}  // namespace shardlab

// Shared by the forward and the backward lowering of a segment. Private to this folder.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/model/segment/program.h"

namespace shardlab {

// Descriptions of the operators of one segment, and which tensors any of them keeps.
class SegmentDescriptions {
 public:
  SegmentDescriptions(const ModelGraph& graph, const SegmentBorders& borders);
  const OperatorDescription& of(OperatorId id) const { return descriptions_[id.index() - begin_.index()]; }
  bool is_saved(TensorId tensor) const;
  // How many operators of the segment keep the tensor.
  int saving_operators(TensorId tensor) const;

 private:
  OperatorId begin_;
  std::vector<OperatorDescription> descriptions_;
  std::vector<std::pair<TensorId, int>> saved_;
};

// Per-tensor state of a lowering: dense over the tensors that the segment's own operators make, a short list
// for the others.
template <typename T>
class TensorTable {
 public:
  TensorTable(const ModelGraph& graph, const SegmentBorders& borders) {
    if (borders.begin == borders.end) return;
    first_ = graph.op(borders.begin).outputs.front().value;
    const OperatorId last{borders.end.value - 1};
    own_.resize(graph.op(last).outputs.back().value - first_ + 1);
  }
  T& at(TensorId tensor) {
    if (tensor.value >= first_ && tensor.value - first_ < own_.size()) return own_[tensor.value - first_];
    for (auto& [id, value] : others_) {
      if (id == tensor) return value;
    }
    others_.emplace_back(tensor, T{});
    return others_.back().second;
  }

 private:
  std::uint32_t first_ = 0;
  std::vector<T> own_;
  std::vector<std::pair<TensorId, T>> others_;
};

inline ProgramValue tensor_value(const ModelGraph& graph, TensorId tensor, ValueOrigin origin) {
  const Tensor& t = graph.tensor(tensor);
  ProgramValue value;
  value.origin = origin;
  value.tensor = tensor;
  value.dtype = t.dtype;
  value.bytes = t.bytes();
  return value;
}

inline ProgramValue extra_value(const ExtraTensor& extra, TensorId owner, ValueOrigin origin) {
  ProgramValue value;
  value.origin = origin;
  value.extra = true;
  value.tensor = owner;
  value.dtype = extra.dtype;
  value.extra_shape = extra.shape;
  value.bytes = bytes_of(element_count(extra.shape), extra.dtype);
  return value;
}

inline void append_work(Program& program, ProgramStep& step, const std::vector<Work>& work) {
  step.work_begin = static_cast<std::uint32_t>(program.work.size());
  program.work.insert(program.work.end(), work.begin(), work.end());
  step.work_end = static_cast<std::uint32_t>(program.work.size());
}

inline void append_blocks(Program& program, ProgramStep& step, const std::vector<Bytes>& blocks) {
  step.blocks_begin = static_cast<std::uint32_t>(program.blocks.size());
  program.blocks.insert(program.blocks.end(), blocks.begin(), blocks.end());
  step.blocks_end = static_cast<std::uint32_t>(program.blocks.size());
}

// Appends unless present; says whether it did.
template <typename T>
bool push_unique(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) != list.end()) return false;
  list.push_back(value);
  return true;
}

// Which of a segment's forward passes is lowered.
enum class ForwardPass : std::uint8_t {
  keeping,      // the only one: it keeps what backward needs
  unkept,       // the first of a recomputed segment: it keeps nothing
  recomputing,  // the second
};

void lower_forward(const ModelGraph& graph, const SegmentBorders& borders,
                   const SegmentDescriptions& descriptions, ForwardPass pass, SegmentPrograms& programs);
void lower_backward(const ModelGraph& graph, const SegmentBorders& borders,
                    const SegmentDescriptions& descriptions, SegmentPrograms& programs);

}  // namespace shardlab

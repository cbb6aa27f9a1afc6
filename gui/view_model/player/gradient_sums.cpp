#include "gui/view_model/player/gradient_sums.h"

#include <algorithm>

#include "gui/view_model/player/step_player.h"

namespace shardlab::view {
namespace {

// The gradients that a copy, a cast or a sum of micro-batches takes; none where it changes them in place.
std::optional<BufferId> source_of(const StepPlan& plan, const Instruction& instruction, BufferId written) {
  if (is_among(written, instruction.reads) && instruction.kind != InstructionKind::Accumulate &&
      !is_collective(instruction.kind))
    return std::nullopt;
  std::optional<BufferId> itself;
  for (const BufferId id : instruction.reads) {
    if (!holds_gradients(plan.buffer(id))) continue;
    if (id != written) return id;
    itself = id;
  }
  return is_collective(instruction.kind) ? itself : std::nullopt;
}

}  // namespace

bool holds_gradients(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard ||
         buffer.buffer_class == BufferClass::reduce_buffer;
}

bool adds_up(const Instruction& instruction) {
  return is_collective(instruction.kind) && instruction.group &&
         (instruction.reduce == ReduceOperation::sum || instruction.reduce == ReduceOperation::average);
}

GradientSums::GradientSums(const StepPlan& plan) : sums_(plan.buffers.size()) {
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    for (const BufferId written : instruction.writes) {
      if (!holds_gradients(plan.buffer(written))) continue;
      GradientSum sum{i};
      if (!runs_segment(instruction.kind)) {
        const auto source = source_of(plan, instruction, written);
        if (!source) continue;
        if (!sums_[source->index()].empty()) sum = sums_[source->index()].back();
        sum.since = i;
      }
      sum.before = sum.ranks;
      if (adds_up(instruction)) {
        sum.ranks *= plan.groups[instruction.group->index()].size;
        if (instruction.kind == InstructionKind::Reduce)
          sum.root_group = instruction.group, sum.root = instruction.root;
      }
      sums_[written.index()].push_back(sum);
    }
  }
}

const GradientSum* GradientSums::after(BufferId buffer, std::size_t position) const {
  const std::vector<GradientSum>& sums = sums_[buffer.index()];
  const auto later =
      std::upper_bound(sums.begin(), sums.end(), position,
                       [](std::size_t place, const GradientSum& sum) { return place < sum.since; });
  return later == sums.begin() ? nullptr : &*(later - 1);
}

}  // namespace shardlab::view

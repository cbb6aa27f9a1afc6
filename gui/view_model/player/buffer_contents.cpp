#include "gui/view_model/player/buffer_contents.h"

#include <algorithm>

#include "gui/view_model/player/step_player.h"

namespace shardlab::view {
namespace {

bool in_place(const Instruction& instruction, BufferId buffer) {
  return is_among(buffer, instruction.reads) && is_among(buffer, instruction.writes);
}

}  // namespace

BufferContents::BufferContents(const StepPlan& plan, const LaneMoves& moves)
    : plan_(&plan), moves_(&moves), own_parts_(plan.buffers.size()), sums_(plan) {
  find_own_parts();
}

void BufferContents::find_own_parts() {
  // Since when a buffer has been filled with what an all-gather in place will complete.
  std::vector<std::optional<std::size_t>> since(plan_->buffers.size());
  for (std::size_t i = 0; i < plan_->instructions.size(); ++i) {
    const Instruction& instruction = plan_->instructions[i];
    const auto begin_anew = [&](BufferId id) {
      auto& parts = own_parts_[id.index()];
      if (!parts.empty()) parts.back().end = std::min(parts.back().end, i);
    };
    for (const BufferId id : instruction.allocates) {
      begin_anew(id);
      since[id.index()] = i;
    }
    for (const BufferId id : instruction.writes) {
      if (!in_place(instruction, id) || !instruction.group) {
        begin_anew(id);
        if (!since[id.index()]) since[id.index()] = i;
      } else if (instruction.kind == InstructionKind::AllGather) {
        if (since[id.index()]) own_parts_[id.index()].push_back({*since[id.index()], i, *instruction.group});
        since[id.index()].reset();
      } else if (instruction.kind == InstructionKind::ReduceScatter) {
        own_parts_[id.index()].push_back({i, plan_->instructions.size(), *instruction.group});
      }
    }
  }
}

void BufferContents::divide(GroupId group, int lane, BufferContent& content) const {
  content.parts = plan_->groups[group.index()].size;
  content.own = moves_->place_in(group, lane).value_or(0);
}

void BufferContents::receive(const Instruction& instruction, BufferId buffer, double progress, int lane,
                             BufferContent& content) const {
  const int place = moves_->place_in(*instruction.group, lane).value_or(0);
  const bool is_root = place == instruction.root;
  switch (instruction.kind) {
    case InstructionKind::AllGather:
    case InstructionKind::AllToAll:
      divide(*instruction.group, lane, content);
      content.others_there = progress;
      break;
    case InstructionKind::ReduceScatter:
      if (!in_place(instruction, buffer)) content.own_there = content.others_there = progress;
      break;
    case InstructionKind::Broadcast:
      if (!is_root) content.own_there = content.others_there = progress;
      break;
    default: break;
  }
}

void BufferContents::add_up(BufferId buffer, std::size_t position, double progress, int lane,
                            BufferContent& content) const {
  const GradientSum* const sum = sums_.after(buffer, position);
  content.summed_ranks = 1;
  if (sum == nullptr) return;
  // Elsewhere than on the root the gradients stay the rank's own.
  if (sum->root_group && moves_->place_in(*sum->root_group, lane) != sum->root) return;
  content.summed_ranks = sum->ranks;
  content.own_summed = content.others_summed = sum->ranks > 1 ? 1 : 0;
  const Instruction& instruction = plan_->instructions[position];
  if (sum->since != position || !adds_up(instruction)) return;
  content.summed_before = sum->before;
  content.own_summed = stage_progress(instruction.kind, 0, progress);
  content.others_summed = content.own_summed;
  if (instruction.kind != InstructionKind::AllReduce) return;
  divide(*instruction.group, lane, content);
  content.others_summed = stage_progress(instruction.kind, 1, progress);
}

BufferContent BufferContents::of(BufferId buffer, std::size_t position, double progress, int lane) const {
  BufferContent content;
  const Instruction& instruction = plan_->instructions[position];
  if (is_collective(instruction.kind) && instruction.group && is_among(buffer, instruction.writes))
    receive(instruction, buffer, progress, lane, content);
  if (instruction.kind == InstructionKind::ReduceScatter && instruction.group &&
      is_among(buffer, instruction.reads))
    divide(*instruction.group, lane, content);
  if (holds_gradients(plan_->buffer(buffer))) add_up(buffer, position, progress, lane, content);
  for (const OwnPart& part : own_parts_[buffer.index()]) {
    if (position < part.begin || position >= part.end) continue;
    divide(part.group, lane, content);
    const bool leaves = position == part.begin && !is_among(buffer, instruction.allocates);
    content.others_there = leaves ? 1 - progress : 0;
    content.others_summed = 0;
  }
  return content;
}

}  // namespace shardlab::view

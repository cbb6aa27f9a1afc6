#include "engine/passes/drop_unused_buffers.h"

#include <utility>

namespace shardlab {
namespace {

constexpr std::array k_lists = {&Instruction::reads, &Instruction::writes, &Instruction::allocates,
                                &Instruction::frees};

std::vector<bool> used_buffers(const StepPlan& plan) {
  std::vector<bool> used(plan.buffers.size());
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = plan.buffers[i].carried || plan.buffers[i].kept;
  for (const Instruction& instruction : plan.instructions) {
    for (const auto list : k_lists) {
      for (const BufferId id : instruction.*list) used[id.index()] = true;
    }
  }
  return used;
}

}  // namespace

StepPlan drop_unused_buffers(StepPlan plan) {
  const std::vector<bool> used = used_buffers(plan);
  std::vector<BufferId> renumbered(used.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = make_id<BufferId>(kept);
    if (kept != i) plan.buffers[kept] = std::move(plan.buffers[i]);
    ++kept;
  }
  plan.buffers.resize(kept);
  for (Instruction& instruction : plan.instructions) {
    for (const auto list : k_lists) {
      for (BufferId& id : instruction.*list) id = renumbered[id.index()];
    }
  }
  return plan;
}

}  // namespace shardlab

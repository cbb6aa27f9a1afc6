#include "engine/passes/free_activations.h"

#include <optional>
#include <utility>

#include "engine/plan/pass.h"

namespace shardlab {
namespace {

constexpr std::uint32_t k_never = 0xffffffffU;

bool is_owned_by_nobody(const Buffer& buffer) {
  return buffer.buffer_class == BufferClass::activation ||
         buffer.buffer_class == BufferClass::activation_gradient ||
         buffer.buffer_class == BufferClass::batch || buffer.buffer_class == BufferClass::scalar;
}

std::vector<std::uint32_t> last_mentions(const StepPlan& plan) {
  std::vector<std::uint32_t> last(plan.buffers.size(), k_never);
  std::vector<bool> freed(plan.buffers.size(), false);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    for (const auto* list : {&instruction.reads, &instruction.writes, &instruction.allocates}) {
      for (const BufferId buffer : *list) last[buffer.index()] = static_cast<std::uint32_t>(i);
    }
    for (const BufferId buffer : instruction.frees) freed[buffer.index()] = true;
  }
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (freed[i] || buffer.carried || !is_owned_by_nobody(buffer)) last[i] = k_never;
  }
  return last;
}

}  // namespace

StepPlan free_activations(StepPlan plan) {
  const std::vector<std::uint32_t> last = last_mentions(plan);
  std::vector<std::vector<BufferId>> frees(plan.instructions.size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    if (last[i] == k_never) continue;
    frees[last[i]].push_back(make_id<BufferId>(i));
    plan.buffers[i].kept = false;
  }
  const auto pass = static_cast<std::uint16_t>(plan.passes.size());
  plan.passes.emplace_back(to_string(PlanPass::free_activations));

  std::vector<InstructionId> renumbered(plan.instructions.size());
  std::vector<Instruction> rewritten;
  rewritten.reserve(plan.instructions.size() * 5 / 4);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    Instruction& instruction = plan.instructions[i];
    for (InstructionId& wait : instruction.waits) wait = renumbered[wait.index()];
    renumbered[i] = make_id<InstructionId>(rewritten.size());
    const StreamId stream = instruction.stream;
    rewritten.push_back(std::move(instruction));
    if (frees[i].empty()) continue;
    Instruction release;
    release.kind = InstructionKind::Free;
    release.stream = plan.buffer(frees[i].front()).stream;
    release.micro_batch = rewritten.back().micro_batch;
    release.frees = std::move(frees[i]);
    release.pass = pass;
    if (stream != release.stream) release.waits.push_back(renumbered[i]);
    rewritten.push_back(std::move(release));
  }
  plan.instructions = std::move(rewritten);
  for (LeftEvent& event : plan.left_events) {
    if (event.instruction) event.instruction = renumbered[event.instruction->index()];
  }
  return plan;
}

}  // namespace shardlab

#include "simulator/memory/allocations/joined_storages.h"

#include <algorithm>

#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

// Secondary shards, which hpZ keeps among neighbours, are padded for all ranks; each is a tensor of its own.
bool is_secondary(const Buffer& shard) {
  return shard.alignment > 1;
}

template <typename Predicate>
std::vector<BufferId> lasting_of(const PlannedScenario& planned, const StepPlan& plan, BufferClass what,
                                 Predicate matches) {
  std::vector<BufferId> found;
  if (facts_of(planned.scenario).zero_stage != 3) return found;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer& buffer = plan.buffers[i];
    if (buffer.kept && buffer.space == MemorySpace::device && buffer.buffer_class == what &&
        buffer.layout == BufferLayout::element_shards && !is_secondary(buffer) && matches(buffer))
      found.push_back(make_id<BufferId>(i));
  }
  return found;
}

void join(const StepPlan& plan, const std::vector<BufferId>& parts,
          std::vector<std::optional<Bytes>>& joined) {
  Bytes all;
  for (const BufferId part : parts) {
    all += plan.buffer(part).bytes();
    joined[part.index()] = Bytes{};
  }
  if (!parts.empty()) joined[parts.front().index()] = all;
}

// Where each buffer is given back; none: after the plan.
std::vector<std::size_t> ends_of(const StepPlan& plan) {
  std::vector<std::size_t> ends(plan.buffers.size(), plan.instructions.size());
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    for (const BufferId freed : plan.instructions[i].frees) ends[freed.index()] = i;
  }
  return ends;
}

// Gradient shards that one instruction makes and one gives back.
void join_gradients(const StepPlan& plan, std::vector<std::optional<Bytes>>& joined) {
  const std::vector<std::size_t> ends = ends_of(plan);
  for (const Instruction& instruction : plan.instructions) {
    const std::vector<BufferId>& made = instruction.allocates;
    if (instruction.kind != InstructionKind::Unpack || made.size() < 2) continue;
    const bool alike = std::all_of(made.begin(), made.end(), [&](BufferId id) {
      return plan.buffer(id).buffer_class == BufferClass::gradient_shard &&
             ends[id.index()] == ends[made.front().index()];
    });
    if (alike) join(plan, made, joined);
  }
}

}  // namespace

// Masters are in float32; where the weights are too, masters are of the root, which owns no parameter itself.
std::vector<BufferId> joined_shards(const PlannedScenario& planned, const StepPlan& plan) {
  const UnitId root = planned.partition.root();
  const ModelGraph& graph = planned.graph;
  return lasting_of(planned, plan, BufferClass::parameter_shard, [&](const Buffer& buffer) {
    return buffer.unit != root && graph.parameter(buffer.parameters.front()).requires_grad;
  });
}

std::vector<std::optional<Bytes>> joined_storages(const PlannedScenario& planned, const StepPlan& plan) {
  std::vector<std::optional<Bytes>> joined(plan.buffers.size());
  const int stage = facts_of(planned.scenario).zero_stage;
  if (stage == 1 || stage == 2) join_gradients(plan, joined);
  join(plan, joined_shards(planned, plan), joined);
  join(plan, lasting_of(planned, plan, BufferClass::gradient_shard, [](const Buffer&) { return true; }),
       joined);
  return joined;
}

}  // namespace shardlab

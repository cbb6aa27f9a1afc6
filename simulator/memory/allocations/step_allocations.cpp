#include "simulator/memory/allocations/step_allocations.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "engine/plan/gradient_parts.h"
#include "engine/plan/segment_run.h"
#include "simulator/memory/allocations/allocation_list.h"
#include "simulator/memory/allocations/flat_setup.h"
#include "simulator/memory/allocations/gradient_copies.h"
#include "simulator/memory/allocations/joined_storages.h"
#include "simulator/memory/allocations/program_allocations.h"
#include "simulator/memory/allocations/zero_setup.h"

namespace shardlab {
namespace {

// The stream on which a framework joins the gradients of a flat vector; our own executor joins where the plan
// says.
std::optional<StreamId> joins_of(const StepPlan& plan, WhoseStorages whose) {
  if (whose != WhoseStorages::framework) return std::nullopt;
  for (std::size_t i = 0; i < plan.streams.size(); ++i) {
    if (plan.streams[i].role == StreamRole::unshard) return make_id<StreamId>(i);
  }
  return std::nullopt;
}

// Whether this is the setup of flat vectors as PyTorch has them, those whose gradients it joins.
bool makes_flat_vectors(const StepPlan& plan, WhoseStorages whose) {
  return plan.phase == PlanPhase::setup && joins_of(plan, whose);
}

class StepWalk {
 public:
  StepWalk(const PlannedScenario& planned, const StepPlan& plan, WhoseStorages whose, Bytes device)
      : planned_(planned),
        plan_(plan),
        whose_(whose),
        device_(device),
        list_(plan, {plan, joins_of(plan, whose)}),
        copies_(planned, plan),
        storages_(plan.buffers.size()) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      if (plan.buffers[i].within) storages_[i].emplace();  // no memory of its own
    }
    if (whose != WhoseStorages::framework) return;
    for (const BufferId replaced : copies_.replaced()) storages_[replaced.index()].emplace();
    const std::vector<std::optional<Bytes>> joined = joined_storages(planned, plan);
    for (std::size_t i = 0; i < joined.size(); ++i) {
      if (joined[i]) storages_[i].emplace();
      if (joined[i] > Bytes{}) storages_[i]->push_back(*joined[i]);
    }
  }

  Result<StepAllocations> list_calls() {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const auto id = make_id<BufferId>(i);
      if (!plan_.buffers[i].carried || !on_device(id)) continue;
      for (const Bytes bytes : storages_of(id)) list_.carry(id, bytes);
    }
    if (makes_flat_vectors(plan_, whose_)) take_flat_shards(planned_, plan_, flat_shards(plan_), list_);
    if (whose_ == WhoseStorages::framework && is_zero_setup(planned_, plan_))
      take_zero_setup(planned_, plan_, device_, list_);
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      SHARDLAB_CHECK_OK(issue(make_id<InstructionId>(i)));
      list_.end_instruction();
    }
    return list_.finish();
  }

 private:
  bool on_device(BufferId id) const { return plan_.buffer(id).space == MemorySpace::device; }

  Status issue(InstructionId id) {
    const Instruction& instruction = plan_.instruction(id);
    list_.note_users(id);
    if (runs_segment(instruction.kind)) return run_segment(id);
    if (is_block(instruction)) {
      take_block(id);
      return {};
    }
    if (passes_on(id)) return {};
    take_all(instruction);
    if (whose_ == WhoseStorages::framework) copy_gradients(instruction);
    for (const BufferId buffer : instruction.frees) list_.give_buffer(buffer, id);
    return {};
  }

  void copy_gradients(const Instruction& instruction) {
    for (const Bytes bytes : copies_.of(instruction)) list_.give(list_.take(bytes, instruction.stream));
  }

  // DeepSpeed's bucket is one block, whose contents and rest a plan tells apart; refilled it stays what it
  // is.
  bool is_block(const Instruction& instruction) const {
    return whose_ == WhoseStorages::framework && instruction.kind == InstructionKind::Alloc &&
           plan_.buffer(instruction.allocates.front()).buffer_class == BufferClass::reduce_buffer;
  }

  Bytes bytes_of_all(const std::vector<BufferId>& buffers) const {
    Bytes sum;
    for (const BufferId buffer : buffers) sum += plan_.buffer(buffer).bytes();
    return sum;
  }

  // Whether what this one frees is the block that the next one takes.
  bool passes_on(InstructionId id) {
    if (plan_.instruction(id).kind != InstructionKind::Free || id.index() + 1 == plan_.instructions.size())
      return false;
    const Instruction& next = plan_.instructions[id.index() + 1];
    const std::vector<BufferId>& freed = plan_.instruction(id).frees;
    return is_block(next) && list_.held(freed.front()).size() == 1 &&
           bytes_of_all(freed) == bytes_of_all(next.allocates);
  }

  void take_block(InstructionId id) {
    const std::vector<BufferId>& taken = plan_.instruction(id).allocates;
    std::vector<StorageIndex>& block = list_.held(taken.front());
    const InstructionId before{id.value - 1};
    if (id.value > 0 && passes_on(before)) {
      block = std::exchange(list_.held(plan_.instruction(before).frees.front()), {});
    } else {
      block.push_back(list_.take(bytes_of_all(taken), list_.streams().of(taken.front())));
    }
  }

  Status run_segment(InstructionId id) {
    const Instruction& instruction = plan_.instruction(id);
    const SegmentRun run =
        segment_run(planned_.partition.segment(*instruction.segment).programs, instruction.kind);
    std::vector<std::vector<GradientPart>> gradients, added;
    if (instruction.kind == InstructionKind::Backward) {
      gradients = gradient_parts(planned_.graph, plan_, instruction, run.program);
      if (whose_ == WhoseStorages::framework) added = added_parts(instruction, run.program);
    }
    return follow_allocations({planned_.graph, plan_, id, run, gradients, added}, list_);
  }

  // The parts of gradients that it adds to, as if it made them; nothing where it adds to none.
  std::vector<std::vector<GradientPart>> added_parts(const Instruction& instruction,
                                                     const Program& program) const {
    std::vector<BufferId> added;
    for (const BufferId id : instruction.writes) {
      const auto& made = instruction.allocates;
      if (plan_.buffer(id).layout == BufferLayout::separate_parameters &&
          std::find(made.begin(), made.end(), id) == made.end())
        added.push_back(id);
    }
    if (added.empty()) return {};
    return gradient_parts(planned_.graph, plan_, added, program);
  }

  // Buffers whose tensors belong together one by one are made parameter by parameter, as torch.optim makes
  // the states of each.
  void take_all(const Instruction& instruction) {
    const std::span<const BufferId> allocates = instruction.allocates;
    for (std::size_t first = 0; first < allocates.size();) {
      std::size_t end = first + 1;
      while (end < allocates.size() && are_states_of_one_unit(allocates[first], allocates[end])) ++end;
      take_together(allocates.subspan(first, end - first), instruction);
      first = end;
    }
  }

  bool are_states_of_one_unit(BufferId a, BufferId b) const {
    const Buffer &first = plan_.buffer(a), &second = plan_.buffer(b);
    return first.buffer_class == BufferClass::optimizer_state && first.unit.has_value() &&
           second.buffer_class == BufferClass::optimizer_state && first.unit == second.unit;
  }

  void take_together(std::span<const BufferId> buffers, const Instruction& instruction) {
    std::vector<Bytes> lists;  // of an optimizer's workspace, which is taken alone
    std::vector<std::span<const Bytes>> parts;
    parts.reserve(buffers.size());
    std::size_t most = 0;
    for (const BufferId id : buffers) {
      const bool has = plan_.phase == PlanPhase::setup && !list_.held(id).empty();  // take_flat_shards
      const bool takes = on_device(id) && !has;
      if (takes && is_optimizers_workspace(id, instruction))
        parts.emplace_back(lists = lists_of_optimizer(plan_.buffer(id), instruction));
      else
        parts.push_back(takes ? storages_of(id) : std::span<const Bytes>());
      most = std::max(most, parts.back().size());
    }
    for (std::size_t part = 0; part < most; ++part) {
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (part >= parts[i].size()) continue;
        list_.held(buffers[i]).push_back(list_.take(parts[i][part], list_.streams().of(buffers[i])));
      }
    }
  }

  bool is_optimizers_workspace(BufferId id, const Instruction& instruction) const {
    return instruction.kind == InstructionKind::OptimizerStep &&
           plan_.buffer(id).buffer_class == BufferClass::workspace && whose_ == WhoseStorages::framework;
  }

  // The lists of `foreach` have a tensor for every one that the optimizer has a state of.
  std::vector<Bytes> lists_of_optimizer(const Buffer& buffer, const Instruction& instruction) {
    std::vector<Bytes> tensors;
    for (const BufferId id : instruction.writes) {
      const Buffer& state = plan_.buffer(id);
      if (state.buffer_class != BufferClass::optimizer_state || state.role == BufferRole::exp_avg_sq)
        continue;
      for (const Bytes bytes : storages_of(id)) tensors.push_back(bytes);
    }
    const Bytes sum = std::accumulate(tensors.begin(), tensors.end(), Bytes{});
    return sum == buffer.bytes() ? tensors : std::vector<Bytes>{buffer.bytes()};
  }

  // Found once a buffer: parameters are gathered again for backward, and for every micro-batch.
  std::span<const Bytes> storages_of(BufferId id) {
    std::optional<std::vector<Bytes>>& known = storages_[id.index()];
    if (!known) known = shardlab::storages_of(planned_.graph, plan_.buffer(id), whose_);
    return *known;
  }

  const PlannedScenario& planned_;
  const StepPlan& plan_;
  WhoseStorages whose_;
  Bytes device_;
  AllocationList list_;
  GradientCopies copies_;
  std::vector<std::optional<std::vector<Bytes>>> storages_;  // by buffer
};

}  // namespace

Result<StepAllocations> step_allocations(const PlannedScenario& planned, const StepPlan& plan,
                                         WhoseStorages whose, Bytes device) {
  return StepWalk(planned, plan, whose, device).list_calls();
}

}  // namespace shardlab

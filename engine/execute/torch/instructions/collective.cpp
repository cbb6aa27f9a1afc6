// AllGather, ReduceScatter, AllReduce, Reduce, Broadcast: issued here, run in the background.
#include <fmt/format.h>

#include "engine/execute/torch/instructions/action.h"

namespace shardlab {
namespace {

class Collective : public Action {
 public:
  Collective(const Site& site, Communicator* communicator, Slot source, Slot target)
      : buffers_(site.run.buffers),
        communicator_(communicator),
        kind_(site.instruction().kind),
        reduce_(site.instruction().reduce),
        root_(site.instruction().root),
        source_(source),
        target_(target) {}

  void run(StepContext& step) override {
    const at::Tensor& source = buffers_.tensor(source_);
    const at::Tensor& target = buffers_.tensor(target_);
    if (communicator_ == nullptr) {  // a group of one: the data is where it belongs, or one copy away
      if (source_ != target_) target.copy_(source);
      return;
    }
    switch (kind_) {
      case InstructionKind::AllGather:
        step.pending = communicator_->all_gather(target, own_part(source, target));
        break;
      case InstructionKind::ReduceScatter:
        step.pending = communicator_->reduce_scatter(own_part(target, source), source, reduce_);
        break;
      case InstructionKind::AllReduce: step.pending = communicator_->all_reduce(target, reduce_); break;
      case InstructionKind::Reduce: step.pending = communicator_->reduce(target, root_, reduce_); break;
      default: step.pending = communicator_->broadcast(target, root_); break;
    }
  }

 private:
  // In place the part of this rank is a part of the whole.
  at::Tensor own_part(const at::Tensor& part, const at::Tensor& whole) const {
    if (source_ != target_) return part;
    const std::int64_t elements = whole.numel() / communicator_->size();
    return whole.narrow(0, communicator_->rank() * elements, elements);
  }

  BufferTable& buffers_;
  Communicator* communicator_;
  const InstructionKind kind_;
  const ReduceOperation reduce_;
  const int root_;
  const Slot source_, target_;
};

}  // namespace

PreparedAction prepare_collective(const Site& site) {
  const Instruction& instruction = site.instruction();
  if (!instruction.group || instruction.reads.size() != 1 || instruction.writes.size() != 1) {
    return site.defect("a collective has a group, reads one buffer and writes one");
  }
  const Group& group = site.plan.groups[instruction.group->index()];
  Communicator* communicator = nullptr;
  const auto found = site.run.communicators.find(group.ranks);
  if (found != site.run.communicators.end() && found->second) communicator = found->second.get();
  if (communicator == nullptr && group.size > 1) {
    return site.defect(
        fmt::format("no communicator for the group '{}' of {} ranks", to_text(group.ranks), group.size));
  }
  if (communicator != nullptr && communicator->size() != group.size) {
    return site.defect(fmt::format("the group '{}' has {} ranks, its communicator {}", to_text(group.ranks),
                                   group.size, communicator->size()));
  }
  return std::make_unique<Collective>(site, group.size > 1 ? communicator : nullptr,
                                      site.slot(instruction.reads.front()),
                                      site.slot(instruction.writes.front()));
}

}  // namespace shardlab

#include "simulator/memory/allocations/allocation_list.h"

namespace shardlab {

AllocationList::AllocationList(const StepPlan& plan, IssueStreams streams)
    : plan_(plan), streams_(std::move(streams)), held_(plan.buffers.size()), users_(plan.buffers.size()) {
  made_.ends.reserve(plan.instructions.size());
}

void AllocationList::carry(BufferId buffer, Bytes bytes) {
  std::vector<StorageIndex>& held = held_[buffer.index()];
  const Buffer& carried = plan_.buffer(buffer);
  made_.carried.push_back({carried.name, held.size(), made_.storages, bytes, streams_.of(buffer)});
  held.push_back(add(bytes));
}

StorageIndex AllocationList::take(Bytes bytes, StreamId stream) {
  made_.calls.push_back({CallKind::take, made_.storages, bytes, stream});
  return add(bytes);
}

void AllocationList::give(StorageIndex storage, std::uint64_t users) {
  made_.calls.push_back({CallKind::give, storage, {}, {}, users});
}

void AllocationList::give_buffer(BufferId buffer, InstructionId instruction) {
  const std::uint64_t users = streams_.records(instruction, buffer) ? users_[buffer.index()] : 0;
  for (const StorageIndex storage : held_[buffer.index()]) give(storage, users);
  held_[buffer.index()].clear();
}

void AllocationList::note_users(InstructionId id) {
  const Instruction& instruction = plan_.instruction(id);
  const std::uint64_t user = std::uint64_t{1} << streams_.of(id).value;
  for (const auto* used : {&instruction.reads, &instruction.writes})
    for (const BufferId buffer : *used) users_[buffer.index()] |= user;
}

void AllocationList::end_instruction() {
  made_.ends.push_back(static_cast<std::uint32_t>(made_.calls.size()));
}

void AllocationList::note_product(bool in_backward) {
  std::optional<std::uint32_t>& first = in_backward ? made_.backward_product : made_.forward_product;
  if (!first) first = static_cast<std::uint32_t>(made_.calls.size());
}

StepAllocations AllocationList::finish() {
  for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer& buffer = plan_.buffers[i];
    if (!buffer.kept) continue;
    for (std::size_t part = 0; part < held_[i].size(); ++part) {
      const StorageIndex storage = held_[i][part];
      made_.kept.push_back({buffer.name, part, storage, sizes_[storage], streams_.of(make_id<BufferId>(i))});
    }
  }
  made_.streams = std::move(streams_).take_instructions();
  return std::move(made_);
}

StorageIndex AllocationList::add(Bytes bytes) {
  sizes_.push_back(bytes);
  return made_.storages++;
}

}  // namespace shardlab

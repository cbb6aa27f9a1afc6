// Collects the calls of a step and knows which storages a buffer holds. Private to this folder.
#pragma once

#include <utility>
#include <vector>

#include "simulator/memory/allocations/issue_streams.h"
#include "simulator/memory/allocations/step_allocations.h"

namespace shardlab {

class AllocationList {
 public:
  AllocationList(const StepPlan& plan, IssueStreams streams);

  // Alive since before the step.
  void carry(BufferId buffer, Bytes bytes);

  StorageIndex take(Bytes bytes, StreamId stream);
  // `users`: the streams it was recorded on.
  void give(StorageIndex storage, std::uint64_t users = 0);
  // What is cached goes back to the driver.
  void empty_cache() { made_.calls.push_back({CallKind::empty_cache, 0, {}, {}, 0}); }
  // As this instruction frees it.
  void give_buffer(BufferId buffer, InstructionId instruction);

  const IssueStreams& streams() const { return streams_; }

  // What the buffer has now. Of a bundle by position in the segment's saved list.
  std::vector<StorageIndex>& held(BufferId buffer) { return held_[buffer.index()]; }

  // The kernels and collectives of the instruction's stream use what it reads and writes.
  void note_users(InstructionId instruction);
  void end_instruction();
  // A matrix product comes next.
  void note_product(bool in_backward);

  StepAllocations finish();

 private:
  StorageIndex add(Bytes bytes);

  const StepPlan& plan_;
  IssueStreams streams_;
  std::vector<std::vector<StorageIndex>> held_;  // by buffer
  std::vector<std::uint64_t> users_;             // by buffer: a bit a stream
  std::vector<Bytes> sizes_;                     // by storage
  StepAllocations made_;
};

}  // namespace shardlab

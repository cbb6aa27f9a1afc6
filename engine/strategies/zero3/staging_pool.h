// The page-locked buffers through which a drive is read and written.
//
// Source: DeepSpeed 0.19.8, runtime/swap_tensor/utils.py (SwapBufferManager): `count` buffers, each as long
// as the largest sub-group, alive as long as the run; what was given back last is taken first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/strategies/host_state.h"

namespace shardlab {

class StagingPool {
 public:
  // Declares the pool: float32, in page-locked memory whatever offload.pin says.
  StagingPool(StepBuilder& builder, UnitId root, const HostState& host, std::int64_t slot_elements,
              std::size_t count);

  std::size_t free_slots() const { return free_.size(); }
  std::int64_t slot_elements() const { return slot_elements_; }
  // There must be as many.
  std::vector<std::size_t> take(std::size_t count);
  void give_back(const std::vector<std::size_t>& slots);
  // The host has waited for this write, the last of what lay in slots that were given back.
  void note_written(InstructionId written) { written_ = written; }
  // Whoever fills slots on a stream comes after what lay there before.
  void wait_for_slots(StreamId stream);
  // The buffer lies in a slot, from an element of it on.
  void place(Buffer& buffer, std::size_t slot, std::int64_t first = 0) const;

 private:
  StepBuilder& b_;
  const std::int64_t slot_elements_;
  const HostState host_;
  BufferId pool_;
  std::vector<std::size_t> free_;
  std::optional<InstructionId> written_;  // the last write that was awaited
};

}  // namespace shardlab

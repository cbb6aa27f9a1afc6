// Float32 gradients on their way to a drive: copied into staging buffers one after the other, written when a
// buffer is full, and read again when their sub-group is updated.
//
// Source: DeepSpeed 0.19.8, runtime/swap_tensor/async_swapper.py (AsyncTensorSwapper) and optimizer_utils.py
// (_swap_out_gradients). What is too small to be swapped stays where it was made, on the device, until its
// sub-group is updated. So do the last elements of a gradient that is no multiple of the drive's alignment,
// and with them all of its memory: DeepSpeed keeps a view of it. Every gradient of a reduction is made before
// the first of them leaves.
#pragma once

#include <optional>
#include <vector>

#include "engine/strategies/host_state.h"
#include "engine/strategies/zero3/staging_pool.h"
#include "engine/strategies/zero3/sub_groups.h"
#include "engine/strategies/zero3/swap_rules.h"

namespace shardlab {

// Elements [first, first + count) of this rank's part of a parameter's gradient.
struct PlacedGradient {
  ParameterId parameter;
  BufferId buffer;
  std::int64_t first = 0, count = 0;
};

class LeavingGradients {
 public:
  // `groups` and `pool` must outlive this. `out`: the stream that writes.
  LeavingGradients(StepBuilder& builder, const SubGroups& groups, UnitId root, const SwapRules& rules,
                   StagingPool& pool, const HostState& host, StreamId out);

  // Takes the squared norm of a gradient of the last micro-batch, float32 on a stream of the device.
  void measure(ParameterId parameter, BufferId gradient, StreamId stream);
  // What measure() was given leaves, sub-group by sub-group; what need not stay on the device is freed.
  void leave(std::vector<PlacedGradient> gradients, StreamId stream);
  // Writes what waits in buffers and gives all of them back; the host waits.
  void flush();

  // The squared norms that were taken of a sub-group's gradients as they left.
  std::vector<BufferId> squares(std::size_t group) const { return squares_[group]; }
  // What lies on the drive, and what lies on the device until drop().
  const std::vector<PlacedGradient>& written(std::size_t group) const { return written_[group]; }
  const std::vector<PlacedGradient>& kept(std::size_t group) const { return kept_[group]; }
  void drop(std::size_t group);

 private:
  struct Waiting {
    BufferId staged, file;
    InstructionId copied;
  };
  void leave_one(const PlacedGradient& gradient, StreamId stream);
  BufferId file_of(ParameterId parameter, std::int64_t elements);
  void make_room(std::int64_t elements);
  void write_waiting();
  void await_writes();

  StepBuilder& b_;
  const SubGroups& groups_;
  const UnitId root_;
  const SwapRules rules_;
  StagingPool& pool_;
  const HostState host_;
  const StreamId out_;
  bool has_buffers_ = false;
  std::vector<std::size_t> free_, busy_;                     // slots; the second may still be read by writes
  std::optional<std::size_t> current_;                       // the slot that is being filled
  std::int64_t filled_ = 0;                                  // elements of it
  std::vector<Waiting> waiting_;                             // in the current slot
  std::vector<BufferId> staged_;                             // in slots that are written
  std::vector<std::vector<BufferId>> squares_;               // by sub-group
  std::vector<std::vector<PlacedGradient>> written_, kept_;  // likewise
};

}  // namespace shardlab

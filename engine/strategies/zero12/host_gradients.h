// This rank's part of the gradients in host memory, under offload_optimizer: cpu of ZeRO-1 and ZeRO-2.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py: what a bucket has of the part is squared, looked
// through and sent in float32 (async_inplace_copy_grad_to_fp32_buffer_from_gpu), parameter by parameter; the
// host waits for each. With several micro-batches that reduce, sums are kept in host memory in the
// parameters' dtype: they come back to the device, the new gradients are added there, and go again
// (async_accumulate_grad_in_cpu_via_gpu); float32 sums of 16-bit gradients stay on the device up to the
// update (_get_compact_grad_partition_buffer). A bucket has as much of every rank's part here, which is so in
// the sum over all buckets.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/strategies/zero12/flat_group.h"

namespace shardlab {

// The buffer of what micro-batches are added up in.

class HostGradients {
 public:
  // Declares what lives across steps. `micro_batches` of a step reduce, the last of `accumulation` among
  // them.
  HostGradients(StepBuilder& builder, const FlatGroup& weights, UnitId root, const HostState& host,
                int accumulation, int micro_batches);

  // `reduced` holds averages, or sums of them, of so many elements of the flat vector, on the device.
  void take(BufferId reduced, std::int64_t elements, int micro_batch, StreamId stream);
  // The host waits for what is on its way.
  void close();

  BufferId part() const { return part_; }  // in float32, what the optimizer works on
  const HostState& host() const { return host_; }

 private:
  void declare_sums();
  void declare_scratch();
  void add_up(BufferId reduced, std::int64_t elements, int micro_batch, StreamId stream);
  void send(BufferId reduced, std::int64_t elements, StreamId stream);
  void await();
  // The size of this rank's part of so many elements of the flat vector.
  Bytes own(std::int64_t elements, DType dtype) const;

  StepBuilder& b_;
  const FlatGroup& weights_;
  const UnitId root_;
  const HostState host_;
  const int last_;  // micro-batch
  BufferId part_;
  std::optional<BufferId> sums_;       // of the micro-batches so far, in the parameters' dtype
  std::optional<InstructionId> sent_;  // the last copy to the host that nobody has waited for
};

}  // namespace shardlab

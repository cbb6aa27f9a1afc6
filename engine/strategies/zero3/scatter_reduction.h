// The reduction of gradients under ZeRO-3: through one bucket, by a reduce-scatter of every parameter's part.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py (__add_grad_to_ipg_bucket,
// __reduce_and_partition_ipg_grads) and runtime/comm/coalesced_collectives.py (reduce_scatter_coalesced): the
// bucket's memory lives as long as the run; its gradients are copied together, rank by rank, in the order of
// definition, unless it is one that all ranks divide. The host waits when more than two reductions are not
// done.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/scenario/zero_options.h"
#include "engine/strategies/step_builder.h"
#include "engine/strategies/zero12/gradient_buckets.h"

namespace shardlab {

class ScatterReduction {
 public:
  // Declares the bucket's memory and this rank's part of the gradients, which live across steps.
  ScatterReduction(StepBuilder& builder, const ZeroOptions& options, UnitId root, StreamId stream,
                   GroupId group, int ranks);

  void begin(int micro_batch) { micro_batch_ = micro_batch; }
  // The gradients of these parameters lie complete in this buffer, which is freed with the last that it
  // holds. A bucket into which they do not fit is reduced before.
  void take(BufferId gradients, std::span<const ParameterId> parameters);
  // Reduces what is left; the host waits for it.
  void close();

  bool is_oversized(ParameterId parameter) const { return buckets_[bucket_of_[parameter.index()]].oversized; }
  BufferId part() const { return part_; }  // of all gradients, parameter by parameter

 private:
  std::string label(std::string_view what, std::size_t number) const;
  void fill(std::size_t bucket);
  void pack(BufferId gradients, std::span<const ParameterId> parameters);
  void reduce();
  void limit();
  BufferId copy_together(BufferId source, const GradientBucket& bucket, std::size_t index);
  void take_part(BufferId reduced, std::int64_t elements);
  void release(BufferId gradients);

  StepBuilder& b_;
  const ZeroOptions options_;
  const UnitId root_;
  const StreamId stream_;
  const GroupId group_;
  const int ranks_;
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by ParameterId
  BufferId memory_, part_;
  std::vector<BufferId> slot_;             // the bucket that is filled, first, and what is left of the memory
  std::optional<std::size_t> filling_;     // a bucket
  std::optional<BufferId> alone_;          // the gradient that is a bucket of its own
  std::map<BufferId, std::size_t> taken_;  // parameters of buffers that hold more
  std::deque<InstructionId> pending_;      // reductions whose end the host has not waited for
  int micro_batch_ = 0;
  std::size_t memories_ = 0;  // taken so far, for names
};

}  // namespace shardlab

// The reduction of one micro-batch's gradients under ZeRO-1 and ZeRO-2: through buckets into this rank's
// part.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py. With overlap_comm there are two buckets, and
// reductions stand on a stream of their own. What belongs to several ranks is copied together and all-reduced
// (allreduce_and_scatter), after which every rank takes its part; what belongs to one, or everything where
// reduce_scatter is off, is all-reduced where it lies. With use_multi_rank_bucket_allreduce off each owner's
// elements are copied together and reduced to it (allreduce_no_retain).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/scenario/zero_options.h"
#include "engine/strategies/zero/bucketed_gradients.h"
#include "engine/strategies/zero12/flat_group.h"
#include "engine/strategies/zero12/host_gradients.h"

namespace shardlab {

class GradientReduction : public BucketedGradients {
 public:
  // `order`: of the parameters, as their gradients will be taken.
  // `host`: takes this rank's part, where the optimizer works on the host; null: it stays on the device.
  // Must outlive this.
  GradientReduction(StepBuilder& builder, FlatGroup& weights, const ZeroOptions& options, UnitId root,
                    GroupId group, std::span<const ParameterId> order, HostGradients* host);

  // Takes the memory of the buckets, unless it is there.
  void open(int micro_batch);
  // Reduces what is left, adds it to what earlier micro-batches left and gives the buckets' memory back.
  void close();

  // This rank's part of the reduced gradients, first, and what is kept beside it.
  const std::vector<BufferId>& part() const { return part_; }
  // The part is held in another dtype than the parameters': micro-batches are added up in it.
  bool accumulates_apart() const { return accumulation_ != weights_.dtype(); }
  void drop_part() { part_.clear(); }

 private:
  void reduce(std::size_t index, BufferId source) override;
  void release(BufferId gradients) override { b_.free({gradients}); }
  Memory& memory() override { return slots_[slot_]; }

  bool is_sent_in_place(const GradientBucket& reduced) const;
  // Elements of a bucket, on every rank, or on the one that owns them.
  void average(BufferId buffer, std::size_t index, std::int64_t elements,
               std::optional<int> owner = std::nullopt);
  bool returns_to_bucket(const GradientBucket& reduced) const;
  void average_and_return(BufferId slices, BufferId source, std::size_t index);
  BufferId all_reduced(BufferId buffer, std::optional<int> owner);
  void send_to_owners(BufferId source, std::size_t index);
  BufferId copy_slices(BufferId source, std::size_t index, const SentTogether& sent);
  BufferId copy_for(const SentToOwner& sent, BufferId source, std::size_t index);
  BufferId pack(BufferId source, Buffer slices);
  void take_part(BufferId reduced, std::size_t index, std::int64_t elements);
  std::optional<BufferId> declare_widened(BufferId reduced, std::size_t index);
  std::vector<BufferId> declare_part();
  void wait_for_reductions();
  void add_fresh();

  FlatGroup& weights_;
  HostGradients* const host_;
  const ZeroOptions options_;
  const GroupId group_;
  const bool overlaps_;
  const DType accumulation_, communication_;
  const StreamId stream_;      // of reductions
  std::vector<Memory> slots_;  // one, or two with overlap_comm; empty while there is no memory
  std::size_t slot_ = 0;
  std::vector<BufferId> late_;   // read by a reduction that may still run
  std::vector<BufferId> part_;   // of the step so far
  std::vector<BufferId> fresh_;  // of this micro-batch
};

}  // namespace shardlab

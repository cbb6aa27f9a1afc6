// The reduction of one micro-batch's gradients under ZeRO-1 and ZeRO-2: through buckets into this rank's
// part.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage_1_and_2.py. A bucket is memory of `reduce_bucket_size`
// elements, whatever lies in it; with overlap_comm there are two, and reductions stand on a stream of their
// own. What belongs to several ranks is copied together and all-reduced (allreduce_and_scatter), after which
// every rank takes its part; what belongs to one, or everything where reduce_scatter is off, is all-reduced
// where it lies.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/scenario/zero_options.h"
#include "engine/strategies/zero12/flat_group.h"
#include "engine/strategies/zero12/gradient_buckets.h"

namespace shardlab {

class GradientReduction {
 public:
  // `order`: of the parameters, as their gradients will be taken.
  GradientReduction(StepBuilder& builder, FlatGroup& weights, const ZeroOptions& options, UnitId root,
                    GroupId group, std::span<const ParameterId> order);

  bool is_oversized(ParameterId parameter) const { return buckets_[bucket_of(parameter)].oversized; }

  // Takes the memory of the buckets, unless it is there.
  void open(int micro_batch);
  // The gradients of these parameters, neighbours in the order, lie complete in this buffer, which is freed
  // with the last that it holds. A bucket into which they do not fit is reduced before.
  void take(BufferId gradients, std::span<const ParameterId> parameters);
  // Reduces what is left, adds it to what earlier micro-batches left and gives the buckets' memory back.
  void close();

  // This rank's part of the reduced gradients, first, and what is kept beside it.
  const std::vector<BufferId>& part() const { return part_; }
  // The part is held in another dtype than the parameters': micro-batches are added up in it.
  bool accumulates_apart() const { return accumulation_ != weights_.dtype(); }
  void drop_part() { part_.clear(); }

 private:
  struct Slot {
    std::vector<BufferId> buffers;  // the bucket that fills it, first, and what is left of its memory
  };

  std::size_t bucket_of(ParameterId parameter) const { return bucket_of_[parameter.index()]; }
  std::string label(std::string_view what, std::size_t number) const;
  void take_memory(Slot& slot, std::int64_t elements, std::optional<BufferId> filled = std::nullopt);
  void fill(std::size_t bucket);
  void pack(BufferId gradients, std::span<const ParameterId> parameters);
  void reduce();
  BufferId copy_slices(BufferId source, const GradientBucket& bucket, std::size_t index,
                       const SentTogether& sent);
  void all_reduce(BufferId buffer);
  void take_part(BufferId reduced, std::int64_t elements);
  std::vector<BufferId> declare_part();
  void wait_for_reductions();
  void add_fresh();
  Slot& slot() { return slots_[slot_]; }

  StepBuilder& b_;
  FlatGroup& weights_;
  const ZeroOptions options_;
  const UnitId root_;
  const GroupId group_;
  const bool overlaps_;
  const DType accumulation_;
  StreamId stream_;  // of reductions
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by ParameterId
  std::vector<Slot> slots_;             // one, or two with overlap_comm; empty while there is no memory
  std::size_t slot_ = 0;
  std::optional<std::size_t> filling_;     // a bucket
  std::optional<BufferId> alone_;          // the gradient that is a bucket of its own
  std::vector<BufferId> late_;             // read by a reduction that may still run
  std::map<BufferId, std::size_t> taken_;  // parameters of buffers that hold more
  int micro_batch_ = 0;
  std::size_t memories_ = 0;     // taken so far, for names
  std::vector<BufferId> part_;   // of the step so far
  std::vector<BufferId> fresh_;  // of this micro-batch
};

}  // namespace shardlab

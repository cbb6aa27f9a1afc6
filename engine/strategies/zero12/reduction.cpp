#include "engine/strategies/zero12/reduction.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/parameter_buffers.h"

namespace shardlab {

GradientReduction::GradientReduction(StepBuilder& builder, FlatGroup& weights, const ZeroOptions& options,
                                     UnitId root, GroupId group, std::span<const ParameterId> order,
                                     HostGradients* host)
    : BucketedGradients(
          builder, root, StepBuilder::compute(), weights.dtype(), options.reduce_bucket_size,
          gradient_buckets(builder.graph(), order, options.reduce_bucket_size, weights.layout())),
      weights_(weights),
      host_(host),
      options_(options),
      group_(group),
      overlaps_(options.overlaps(2)),
      accumulation_(options.grad_accum_dtype.value_or(weights.dtype())),
      communication_(options.communication_data_type.value_or(weights.dtype())),
      stream_(overlaps_ ? builder.add_stream("reduction") : StepBuilder::compute()) {}

void GradientReduction::open(int micro_batch) {
  micro_batch_ = micro_batch;
  if (!slots_.empty()) return;
  slots_.resize(overlaps_ ? 2 : 1);
  slot_ = 0;
  for (Memory& slot : slots_) slot = take_memory(options_.reduce_bucket_size);
}

// With overlap_comm the reduction waits for what fills the bucket, and what fills the next one for the
// reduction before.
void GradientReduction::reduce(std::size_t index, BufferId source) {
  const GradientBucket& reduced = bucket(index);
  if (overlaps_) {
    b_.wait(stream_, StepBuilder::compute());
    b_.wait(StepBuilder::compute(), stream_);
    if (!late_.empty()) b_.free(std::exchange(late_, {}));
  }
  if (options_.reduce_scatter && !options_.use_multi_rank_bucket_allreduce) {
    send_to_owners(source, index);
  } else if (!options_.reduce_scatter || is_sent_in_place(reduced)) {
    average(source, index, reduced.elements);
  } else {
    for (const SentTogether& sent : reduced.sent) {
      const BufferId slices = copy_slices(source, index, sent);
      if (returns_to_bucket(reduced)) {
        average_and_return(slices, source, index);
      } else {
        average(slices, index, sent.elements);
        b_.free({slices});
      }
    }
  }
  if (reduced.oversized && overlaps_) late_.push_back(source);
  if (reduced.oversized && !overlaps_) b_.free({source});
  if (overlaps_) slot_ = 1 - slot_;
}

// One slice is sent where it lies. Where a rank adds to sums of its own, each gradient is a slice of it
// (_get_compact_grad_partition_slice).
bool GradientReduction::is_sent_in_place(const GradientBucket& reduced) const {
  const bool is_one = reduced.sent.size() == 1 && reduced.sent.front().slices == 1;
  return is_one && (!accumulates_apart() || reduced.pieces == 1);
}

// Averages of this rank's part go back into the bucket, from which they are taken when the slices are gone
// (allreduce_and_copy_with_multiple_ranks, copy_grads_in_partition). Sums of another dtype take them from the
// slices. A gradient that is sent in several parts is taken part by part here.
bool GradientReduction::returns_to_bucket(const GradientBucket& reduced) const {
  return host_ == nullptr && !accumulates_apart() && reduced.sent.size() == 1;
}

void GradientReduction::average_and_return(BufferId slices, BufferId source, std::size_t index) {
  const BufferId sent = all_reduced(slices, std::nullopt);
  Instruction back = make_copy(b_, root_, {sent}, {source});
  back.stream = stream_;
  const std::int64_t part = weights_.layout().flat_shard_elements();
  back.bytes = bytes_of(std::min(bucket(index).elements, part), weights_.dtype());
  b_.emit(std::move(back));
  if (sent != slices) b_.free({sent});
  b_.free({slices});
  take_part(source, index, bucket(index).elements);
}

// In communication_data_type, where that is another, a copy is sent (allreduce_bucket). Where the optimizer
// works on the host it goes back to where it came from first, since gradients leave in their own dtype.
void GradientReduction::average(BufferId buffer, std::size_t index, std::int64_t elements,
                                std::optional<int> owner) {
  const BufferId sent = all_reduced(buffer, owner);
  const bool returns = sent != buffer && host_ != nullptr && !accumulates_apart();
  if (returns) {
    Instruction back = make_copy(b_, root_, {sent}, {buffer});
    back.stream = stream_;
    b_.emit(std::move(back));
  }
  take_part(returns ? buffer : sent, index, elements);
  if (sent != buffer) b_.free({sent});
}

// What was sent of it: a copy where that is in another dtype.
BufferId GradientReduction::all_reduced(BufferId buffer, std::optional<int> owner) {
  const BufferId sent = converted(b_, buffer, communication_, stream_);
  Instruction reduce;
  reduce.kind = owner ? InstructionKind::Reduce : InstructionKind::AllReduce;
  reduce.stream = stream_;
  reduce.unit = root_;
  reduce.group = group_;
  reduce.root = owner.value_or(0);
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = b_.plan().buffer(sent).bytes();
  reduce.reads = reduce.writes = {sent};
  b_.emit(std::move(reduce));
  return sent;
}

void GradientReduction::send_to_owners(BufferId source, std::size_t index) {
  const std::vector<SentToOwner> owners = sent_to_owners(bucket(index), weights_.layout());
  if (is_sent_in_place(bucket(index)))
    return average(source, index, bucket(index).elements, owners.front().owner);
  for (const SentToOwner& sent : owners) {
    const BufferId slices = copy_for(sent, source, index);
    average(slices, index, sent.elements, sent.owner);
    b_.free({slices});
  }
}

// What one rank owns of a gradient that is no part of a bucket is reduced where it lies: allreduce_bucket
// joins a single tensor to itself.
BufferId GradientReduction::copy_slices(BufferId source, std::size_t index, const SentTogether& sent) {
  const bool whole = sent.elements == bucket(index).elements;
  Buffer buffer;
  buffer.name = label("slices", index);
  if (!whole) buffer.name += fmt::format(".{}", sent.first);
  buffer.elements = sent.elements;
  buffer.layout = whole ? BufferLayout::parameters : BufferLayout::flat_range;
  buffer.first = sent.first;
  buffer.parameters = bucket(index).parameters;
  if (bucket(index).oversized && sent.slices == 1) buffer.within = PlaceInPool{source, sent.first};
  return pack(source, std::move(buffer));
}

BufferId GradientReduction::copy_for(const SentToOwner& sent, BufferId source, std::size_t index) {
  Buffer buffer;
  buffer.name = fmt::format("{}.to{}", label("slices", index), sent.owner);
  buffer.elements = sent.elements;
  buffer.layout = BufferLayout::flat_range;
  buffer.first = sent.first;
  buffer.parameters = sent.parameters;
  if (bucket(index).oversized) buffer.within = PlaceInPool{source, sent.first};
  return pack(source, std::move(buffer));
}

BufferId GradientReduction::pack(BufferId source, Buffer slices) {
  slices.buffer_class = BufferClass::reduce_buffer;
  slices.dtype = weights_.dtype();
  slices.stream = stream_;
  const BufferId packed = b_.declare(std::move(slices));
  Instruction copy;
  copy.kind = InstructionKind::Pack;
  copy.stream = stream_;
  copy.unit = root_;
  copy.bytes = b_.plan().buffer(packed).own_bytes();  // what lies there already is not copied
  copy.reads = {source};
  copy.writes = copy.allocates = {packed};
  b_.emit(std::move(copy));
  return packed;
}

// Sums of another dtype stay on the device until the last micro-batch, wherever the optimizer works.
void GradientReduction::take_part(BufferId reduced, std::size_t index, std::int64_t elements) {
  if (host_ != nullptr && !accumulates_apart()) return host_->take(reduced, elements, micro_batch_, stream_);
  const bool adds = accumulates_apart() && micro_batch_ > 0;
  Instruction take;
  take.kind = adds ? InstructionKind::Accumulate : InstructionKind::Unpack;
  take.stream = stream_;
  take.unit = root_;
  if (!adds && fresh_.empty()) take.allocates = fresh_ = declare_part();
  const BufferId part = adds ? part_.front() : fresh_.front();
  const std::int64_t most = std::min(elements, b_.plan().buffer(part).elements);
  take.bytes = bytes_of(most, accumulation_);
  take.reads = {reduced};
  if (adds) take.reads.push_back(part);
  take.writes = {part};
  const std::optional<BufferId> widened = declare_widened(reduced, index);
  if (widened) take.allocates.push_back(*widened);
  for (const BufferId made : take.allocates) {
    if (made != part) take.writes.push_back(made);
  }
  b_.emit(std::move(take));
  if (widened) b_.free({*widened});
  if (host_ != nullptr) host_->take(part, elements, micro_batch_, stream_);
}

// What is added to sums of another dtype becomes that first, gradient by gradient
// (_add_to_grad_partition_buffer).
std::optional<BufferId> GradientReduction::declare_widened(BufferId reduced, std::size_t index) {
  if (!accumulates_apart() || b_.plan().buffer(reduced).dtype == accumulation_) return std::nullopt;
  Buffer widened;
  widened.name = fmt::format("widened.{}", b_.plan().buffer(reduced).name);
  widened.buffer_class = BufferClass::gradient_shard;
  widened.dtype = accumulation_;
  widened.elements = bucket(index).largest_piece;
  widened.stream = stream_;
  return b_.declare(std::move(widened));
}

// In the parameters' own dtype whole gradients of the parameters in the part are kept.
std::vector<BufferId> GradientReduction::declare_part() {
  Buffer part =
      weights_.part(fmt::format("part.mb{}", micro_batch_), BufferClass::gradient_shard, accumulation_);
  part.stream = stream_;
  const std::int64_t beside = most_touched_elements(weights_.layout()) - part.elements;
  std::vector<BufferId> made{b_.declare(std::move(part))};
  if (accumulates_apart() || beside <= 0) return made;
  Buffer whole;
  whole.name = fmt::format("beside_part.mb{}", micro_batch_);
  whole.buffer_class = BufferClass::gradient_shard;
  whole.dtype = accumulation_;
  whole.elements = beside;
  whole.stream = stream_;
  made.push_back(b_.declare(std::move(whole)));
  return made;
}

void GradientReduction::close() {
  reduce_last();
  if (overlaps_) wait_for_reductions();
  if (host_ != nullptr) host_->close();
  if (part_.empty()) {
    part_ = std::exchange(fresh_, {});
  } else if (!fresh_.empty()) {
    add_fresh();
  }
  for (Memory& slot : slots_) {
    if (!slot.empty()) b_.free(std::move(slot));
  }
  slots_.clear();
}

// DeepSpeed synchronizes the device: the host waits.
void GradientReduction::wait_for_reductions() {
  b_.wait(StepBuilder::compute(), stream_);
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  if (const auto last = b_.last_on(stream_)) wait.waits = {*last};
  b_.emit(std::move(wait));
  if (!late_.empty()) b_.free(std::exchange(late_, {}));
}

void GradientReduction::add_fresh() {
  Instruction add;
  add.kind = InstructionKind::Accumulate;
  add.unit = root_;
  add.bytes = b_.plan().buffer(part_.front()).bytes();
  add.reads = {fresh_.front(), part_.front()};
  add.writes = {part_.front()};
  b_.emit(std::move(add));
  b_.free(std::exchange(fresh_, {}));
}

}  // namespace shardlab

#include "engine/strategies/zero12/reduction.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace shardlab {

GradientReduction::GradientReduction(StepBuilder& builder, FlatGroup& weights, const ZeroOptions& options,
                                     UnitId root, GroupId group, std::span<const ParameterId> order)
    : b_(builder),
      weights_(weights),
      options_(options),
      root_(root),
      group_(group),
      overlaps_(options.overlaps(2)),
      accumulation_(options.grad_accum_dtype.value_or(weights.dtype())),
      stream_(overlaps_ ? builder.add_stream("reduction") : StepBuilder::compute()),
      buckets_(gradient_buckets(builder.graph(), order, options.reduce_bucket_size, weights.layout())),
      bucket_of_(builder.graph().parameters.size()) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (const ParameterId parameter : buckets_[i].parameters) bucket_of_[parameter.index()] = i;
  }
}

std::string GradientReduction::label(std::string_view what, std::size_t bucket) const {
  return fmt::format("{}.{}.mb{}", what, bucket, micro_batch_);
}

void GradientReduction::open(int micro_batch) {
  micro_batch_ = micro_batch;
  if (!slots_.empty()) return;
  slots_.resize(overlaps_ ? 2 : 1);
  slot_ = 0;
  for (Slot& slot : slots_) take_memory(slot, options_.reduce_bucket_size);
}

// What is left of a bucket's memory when the gradients in it have a buffer of their own.
void GradientReduction::take_memory(Slot& slot, std::int64_t elements, std::optional<BufferId> filled) {
  Instruction take;
  take.kind = InstructionKind::Alloc;
  if (filled) take.allocates.push_back(*filled);
  if (elements > 0) {
    Buffer rest;
    rest.name = label("bucket_memory", memories_++);
    rest.buffer_class = BufferClass::reduce_buffer;
    rest.dtype = weights_.dtype();
    rest.elements = elements;
    take.allocates.push_back(b_.declare(std::move(rest)));
  }
  slot.buffers = take.allocates;
  if (!take.allocates.empty()) b_.emit(std::move(take));
}

void GradientReduction::take(BufferId gradients, std::span<const ParameterId> parameters) {
  for (std::size_t done = 0; done < parameters.size();) {
    const std::size_t bucket = bucket_of(parameters[done]);
    const auto other = [&](ParameterId parameter) { return bucket_of(parameter) != bucket; };
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(done);
    const auto end = std::find_if(begin, parameters.end(), other);
    if (filling_ != bucket) {
      if (filling_) reduce();
      fill(bucket);
    }
    if (buckets_[bucket].oversized) {
      alone_ = gradients;
      return;
    }
    pack(gradients, {begin, end});
    done = static_cast<std::size_t>(end - parameters.begin());
  }
  taken_[gradients] += parameters.size();
  if (taken_[gradients] < b_.plan().buffer(gradients).parameters.size()) return;
  taken_.erase(gradients);
  b_.free({gradients});
}

void GradientReduction::fill(std::size_t bucket) {
  filling_ = bucket;
  const GradientBucket& next = buckets_[bucket];
  if (next.oversized) return;
  Buffer buffer;
  buffer.role = BufferRole::bucket;
  buffer.name = label("bucket", bucket);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = weights_.dtype();
  buffer.elements = next.elements;
  buffer.layout = BufferLayout::parameters;
  buffer.parameters = next.parameters;
  const BufferId filled = b_.declare(std::move(buffer));
  if (!slot().buffers.empty()) b_.free(std::exchange(slot().buffers, {}));
  take_memory(slot(), options_.reduce_bucket_size - next.elements, filled);
}

void GradientReduction::pack(BufferId gradients, std::span<const ParameterId> parameters) {
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.unit = root_;
  for (const ParameterId parameter : parameters)
    pack.bytes += bytes_of(b_.graph().parameter(parameter).elements(), weights_.dtype());
  pack.reads = {gradients};
  pack.writes = {slot().buffers.front()};
  b_.emit(std::move(pack));
}

// With overlap_comm the reduction waits for what fills the bucket, and what fills the next one for the
// reduction before.
void GradientReduction::reduce() {
  const std::size_t index = *std::exchange(filling_, std::nullopt);
  const GradientBucket& bucket = buckets_[index];
  if (overlaps_) {
    b_.wait(stream_, StepBuilder::compute());
    b_.wait(StepBuilder::compute(), stream_);
    if (!late_.empty()) b_.free(std::exchange(late_, {}));
  }
  const BufferId source = bucket.oversized ? *alone_ : slot().buffers.front();
  const bool at_once = bucket.sent.size() == 1 && bucket.sent.front().slices == 1;
  if (!options_.reduce_scatter || at_once) {
    all_reduce(source);
    take_part(source, bucket.elements);
  } else {
    for (const SentTogether& sent : bucket.sent) {
      const BufferId slices = copy_slices(source, bucket, index, sent);
      all_reduce(slices);
      take_part(slices, sent.elements);
      b_.free({slices});
    }
  }
  if (bucket.oversized) {
    if (overlaps_) {
      late_.push_back(*alone_);
    } else {
      b_.free({*alone_});
    }
    alone_.reset();
  }
  if (overlaps_) slot_ = 1 - slot_;
}

// A slice that is sent alone is a view in DeepSpeed; here it is copied like the others.
BufferId GradientReduction::copy_slices(BufferId source, const GradientBucket& bucket, std::size_t index,
                                        const SentTogether& sent) {
  const bool whole = sent.elements == bucket.elements;
  Buffer buffer;
  buffer.name = label("slices", index);
  if (!whole) buffer.name += fmt::format(".{}", sent.first);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = weights_.dtype();
  buffer.elements = sent.elements;
  buffer.stream = stream_;
  buffer.layout = whole ? BufferLayout::parameters : BufferLayout::flat_range;
  buffer.first = sent.first;
  buffer.parameters = bucket.parameters;
  const BufferId slices = b_.declare(std::move(buffer));
  Instruction copy;
  copy.kind = InstructionKind::Pack;
  copy.stream = stream_;
  copy.unit = root_;
  copy.bytes = b_.plan().buffer(slices).bytes();
  copy.reads = {source};
  copy.writes = copy.allocates = {slices};
  b_.emit(std::move(copy));
  return slices;
}

void GradientReduction::all_reduce(BufferId buffer) {
  Instruction reduce;
  reduce.kind = InstructionKind::AllReduce;
  reduce.stream = stream_;
  reduce.unit = root_;
  reduce.group = group_;
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = b_.plan().buffer(buffer).bytes();
  reduce.reads = reduce.writes = {buffer};
  b_.emit(std::move(reduce));
}

void GradientReduction::take_part(BufferId reduced, std::int64_t elements) {
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
  for (const BufferId made : take.allocates) {
    if (made != part) take.writes.push_back(made);
  }
  b_.emit(std::move(take));
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
  if (filling_) reduce();
  if (overlaps_) wait_for_reductions();
  if (part_.empty()) {
    part_ = std::exchange(fresh_, {});
  } else if (!fresh_.empty()) {
    add_fresh();
  }
  for (Slot& slot : slots_) {
    if (!slot.buffers.empty()) b_.free(std::move(slot.buffers));
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

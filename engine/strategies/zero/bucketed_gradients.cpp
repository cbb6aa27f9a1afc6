#include "engine/strategies/zero/bucketed_gradients.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace shardlab {

BufferId converted(StepBuilder& builder, BufferId id, DType dtype, StreamId stream) {
  Buffer buffer = builder.plan().buffer(id);
  if (buffer.dtype == dtype) return id;
  buffer.name = "sent." + buffer.name;
  buffer.carried = false;
  buffer.role = BufferRole::other;
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = dtype;
  buffer.stream = stream;
  const std::optional<UnitId> unit = buffer.unit;
  const BufferId copy = builder.declare(std::move(buffer));
  Instruction cast;
  cast.kind = InstructionKind::Cast;
  cast.stream = stream;
  cast.unit = unit;
  cast.bytes = builder.plan().buffer(copy).bytes();
  cast.reads = {id};
  cast.writes = cast.allocates = {copy};
  builder.emit(std::move(cast));
  return copy;
}

BucketedGradients::BucketedGradients(StepBuilder& builder, UnitId root, StreamId stream, DType dtype,
                                     std::int64_t size, std::vector<GradientBucket> buckets)
    : b_(builder),
      root_(root),
      stream_(stream),
      dtype_(dtype),
      size_(size),
      buckets_(std::move(buckets)),
      bucket_of_(builder.graph().parameters.size()) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (const ParameterId parameter : buckets_[i].parameters) bucket_of_[parameter.index()] = i;
  }
}

std::string BucketedGradients::label(std::string_view what, std::size_t number) const {
  return fmt::format("{}.{}.mb{}", what, number, micro_batch_);
}

void BucketedGradients::take(BufferId gradients, std::span<const ParameterId> parameters) {
  for (std::size_t done = 0; done < parameters.size();) {
    const std::size_t bucket = bucket_of(parameters[done]);
    const auto other = [&](ParameterId parameter) { return bucket_of(parameter) != bucket; };
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(done);
    const auto end = std::find_if(begin, parameters.end(), other);
    if (filling_ != bucket) {
      reduce_last();
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
  release(gradients);
}

void BucketedGradients::fill(std::size_t bucket) {
  filling_ = bucket;
  const GradientBucket& next = buckets_[bucket];
  if (next.oversized) return;
  Buffer buffer;
  buffer.role = BufferRole::bucket;
  buffer.name = label("bucket", bucket);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = dtype_;
  buffer.elements = next.elements;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::parameters;
  buffer.parameters = next.parameters;
  const BufferId filled = b_.declare(std::move(buffer));
  if (!memory().empty()) b_.free(std::exchange(memory(), {}));
  memory() = take_memory(size_ - next.elements, filled);
}

BucketedGradients::Memory BucketedGradients::take_memory(std::int64_t elements,
                                                         std::optional<BufferId> filled) {
  Instruction take;
  take.kind = InstructionKind::Alloc;
  take.stream = stream_;
  if (filled) take.allocates.push_back(*filled);
  if (elements > 0) {
    Buffer rest;
    rest.name = label("bucket_memory", memories_++);
    rest.buffer_class = BufferClass::reduce_buffer;
    rest.dtype = dtype_;
    rest.elements = elements;
    rest.stream = stream_;
    take.allocates.push_back(b_.declare(std::move(rest)));
  }
  Memory memory = take.allocates;
  if (!memory.empty()) b_.emit(std::move(take));
  return memory;
}

void BucketedGradients::pack(BufferId gradients, std::span<const ParameterId> parameters) {
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.stream = stream_;
  pack.unit = root_;
  for (const ParameterId parameter : parameters)
    pack.bytes += bytes_of(b_.graph().parameter(parameter).elements(), dtype_);
  pack.reads = {gradients};
  pack.writes = {memory().front()};
  b_.emit(std::move(pack));
}

void BucketedGradients::reduce_last() {
  if (!filling_) return;
  const std::size_t index = *std::exchange(filling_, std::nullopt);
  const std::optional<BufferId> alone = std::exchange(alone_, std::nullopt);
  reduce(index, buckets_[index].oversized ? *alone : memory().front());
}

}  // namespace shardlab

#include "engine/strategies/zero3/scatter_reduction.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_pending = 2;  // max_param_reduce_events

}  // namespace

ScatterReduction::ScatterReduction(StepBuilder& builder, const ZeroOptions& options, UnitId root,
                                   StreamId stream, GroupId group, int ranks)
    : b_(builder),
      options_(options),
      root_(root),
      stream_(stream),
      group_(group),
      ranks_(ranks),
      bucket_of_(builder.graph().parameters.size()) {
  const ModelGraph& graph = builder.graph();
  const std::vector<ParameterId> all = parameters_with_gradients(graph);
  const DType param = builder.partition().unit(root).settings.precision.param;
  buckets_ = gradient_buckets(graph, arrival_order(graph), options.reduce_bucket_size,
                              make_layout(graph, all, ranks));
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    for (const ParameterId parameter : buckets_[i].parameters) bucket_of_[parameter.index()] = i;
  }
  Buffer memory;
  memory.name = "bucket_memory";
  memory.buffer_class = BufferClass::reduce_buffer;
  memory.dtype = param;
  memory.elements = options.reduce_bucket_size;
  memory_ = declare_persistent_buffer(builder, std::move(memory));
  Buffer part;
  part.name = "gradients";
  part.buffer_class = BufferClass::gradient_shard;
  part.dtype = options.grad_accum_dtype.value_or(param);
  part.layout = BufferLayout::element_shards;
  part.parameters = all;
  part.shards = ranks;
  part.elements = make_layout(graph, all, ranks, 1, 1, ShardedBy::elements).shard_elements;
  part.unit = root;
  part_ = declare_persistent_buffer(builder, std::move(part));
  slot_ = {memory_};
}

std::string ScatterReduction::label(std::string_view what, std::size_t number) const {
  return fmt::format("{}.{}.mb{}", what, number, micro_batch_);
}

void ScatterReduction::take(BufferId gradients, std::span<const ParameterId> parameters) {
  if (stream_ != StepBuilder::compute()) b_.wait(stream_, StepBuilder::compute());
  for (std::size_t done = 0; done < parameters.size();) {
    const std::size_t bucket = bucket_of_[parameters[done].index()];
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(done);
    const auto end = std::find_if(begin, parameters.end(), [&](ParameterId parameter) {
      return bucket_of_[parameter.index()] != bucket;
    });
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
  release(gradients);
}

// The bucket's gradients and what is left of its memory are told apart.
void ScatterReduction::fill(std::size_t bucket) {
  filling_ = bucket;
  const GradientBucket& next = buckets_[bucket];
  if (next.oversized) return;
  b_.free(std::exchange(slot_, {}));
  Buffer buffer;
  buffer.role = BufferRole::bucket;
  buffer.name = label("bucket", bucket);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = b_.plan().buffer(memory_).dtype;
  buffer.elements = next.elements;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::parameters;
  buffer.parameters = next.parameters;
  Instruction take;
  take.kind = InstructionKind::Alloc;
  take.stream = stream_;
  take.allocates.push_back(b_.declare(std::move(buffer)));
  if (const std::int64_t left = options_.reduce_bucket_size - next.elements; left > 0) {
    Buffer rest;
    rest.name = label("bucket_memory", memories_++);
    rest.buffer_class = BufferClass::reduce_buffer;
    rest.dtype = b_.plan().buffer(memory_).dtype;
    rest.elements = left;
    rest.stream = stream_;
    take.allocates.push_back(b_.declare(std::move(rest)));
  }
  slot_ = take.allocates;
  b_.emit(std::move(take));
}

void ScatterReduction::pack(BufferId gradients, std::span<const ParameterId> parameters) {
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.stream = stream_;
  pack.unit = root_;
  for (const ParameterId parameter : parameters)
    pack.bytes += bytes_of(b_.graph().parameter(parameter).elements(), b_.plan().buffer(memory_).dtype);
  pack.reads = {gradients};
  pack.writes = {slot_.front()};
  b_.emit(std::move(pack));
}

// record_stream: their memory belongs to compute, and the stream of reductions has read it.
void ScatterReduction::release(BufferId gradients) {
  Instruction free;
  free.kind = InstructionKind::Free;
  free.unit = b_.plan().buffer(gradients).unit;
  free.frees = {gradients};
  free.recorded = stream_ != StepBuilder::compute();
  b_.emit(std::move(free));
}

void ScatterReduction::limit() {
  if (pending_.size() <= k_most_pending) return;
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  wait.waits = {pending_.front()};
  pending_.pop_front();
  b_.emit(std::move(wait));
}

void ScatterReduction::reduce() {
  const std::size_t index = *std::exchange(filling_, std::nullopt);
  const GradientBucket& bucket = buckets_[index];
  limit();
  const BufferId source = bucket.oversized ? *alone_ : slot_.front();
  const bool scatters = options_.reduce_scatter || bucket.oversized;
  const bool in_place = !scatters || (bucket.parameters.size() == 1 && bucket.elements % ranks_ == 0);
  const BufferId sent = in_place ? source : copy_together(source, bucket, index);
  Instruction reduce;
  reduce.kind = scatters ? InstructionKind::ReduceScatter : InstructionKind::AllReduce;
  reduce.stream = stream_;
  reduce.unit = root_;
  reduce.group = group_;
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = b_.plan().buffer(sent).bytes();
  reduce.reads = reduce.writes = {sent};
  b_.emit(std::move(reduce));
  take_part(sent, bucket.elements);
  if (!in_place) b_.free({sent});
  if (bucket.oversized) release(*std::exchange(alone_, std::nullopt));
  if (const auto last = b_.last_on(stream_)) pending_.push_back(*last);
}

BufferId ScatterReduction::copy_together(BufferId source, const GradientBucket& bucket, std::size_t index) {
  std::vector<ParameterId> in_order = bucket.parameters;
  std::sort(in_order.begin(), in_order.end());
  Buffer buffer;
  buffer.name = label("scatter", index);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = b_.plan().buffer(source).dtype;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::gathered_element_shards;
  buffer.parameters = std::move(in_order);
  buffer.shards = ranks_;
  buffer.elements =
      make_layout(b_.graph(), buffer.parameters, ranks_, 1, 1, ShardedBy::elements).gathered_elements();
  const BufferId together = b_.declare(std::move(buffer));
  Instruction copy;
  copy.kind = InstructionKind::Pack;
  copy.stream = stream_;
  copy.unit = root_;
  copy.bytes = b_.plan().buffer(together).bytes();
  copy.reads = {source};
  copy.writes = copy.allocates = {together};
  b_.emit(std::move(copy));
  return together;
}

// The first micro-batch replaces what the step before has left.
void ScatterReduction::take_part(BufferId reduced, std::int64_t elements) {
  const bool adds = micro_batch_ > 0;
  Instruction take;
  take.kind = adds ? InstructionKind::Accumulate : InstructionKind::Unpack;
  take.stream = stream_;
  take.unit = root_;
  take.bytes = bytes_of((elements + ranks_ - 1) / ranks_, b_.plan().buffer(part_).dtype);
  take.reads = {reduced};
  if (adds) take.reads.push_back(part_);
  take.writes = {part_};
  b_.emit(std::move(take));
}

void ScatterReduction::close() {
  if (filling_) reduce();
  if (stream_ != StepBuilder::compute()) {
    b_.wait(StepBuilder::compute(), stream_);
    if (const auto last = b_.last_on(stream_)) {
      Instruction wait;
      wait.kind = InstructionKind::HostWait;
      wait.waits = {*last};
      b_.emit(std::move(wait));
    }
  }
  pending_.clear();
  if (slot_.front() == memory_) return;
  b_.free(std::exchange(slot_, {memory_}));
  Instruction keep;
  keep.kind = InstructionKind::Alloc;
  keep.allocates = {memory_};
  b_.emit(std::move(keep));
}

}  // namespace shardlab

#include "engine/strategies/zero3/scatter_reduction.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_pending_reductions = 2;  // max_param_reduce_events

DType parameter_dtype(const StepBuilder& builder, UnitId root) {
  return builder.partition().unit(root).settings.precision.param;
}

std::vector<GradientBucket> buckets_of(const ModelGraph& graph, const std::vector<ParameterId>& order,
                                       const ZeroOptions& options, int ranks) {
  return gradient_buckets(graph, order, options.reduce_bucket_size,
                          make_layout(graph, parameters_with_gradients(graph), ranks));
}

}  // namespace

ScatterReduction::ScatterReduction(StepBuilder& builder, const ZeroOptions& options, UnitId root,
                                   StreamId stream, GroupId group, const SubGroups& groups,
                                   const std::vector<ParameterId>& order, int ranks,
                                   std::optional<HostState> host, int accumulation, OptimizerSwap* swap,
                                   QuantizedReduction* exchange)
    : BucketedGradients(builder, root, stream, parameter_dtype(builder, root), options.reduce_bucket_size,
                        buckets_of(builder.graph(), order, options, ranks)),
      options_(options),
      stream_(stream),
      group_(group),
      ranks_(ranks),
      host_(host),
      last_(accumulation - 1),
      groups_(groups),
      swap_(swap),
      exchange_(exchange) {
  const DType param = parameter_dtype(builder, root);
  Buffer memory;
  memory.name = "bucket_memory";
  memory.buffer_class = BufferClass::reduce_buffer;
  memory.dtype = param;
  memory.elements = options.reduce_bucket_size;
  memory_ = declare_persistent_buffer(builder, std::move(memory));
  for (std::size_t i = 0; i < groups.count(); ++i) {
    Buffer part =
        groups.part(i, "gradients", BufferClass::gradient_shard, options.grad_accum_dtype.value_or(param));
    if (host_) place_on_host(part, *host_);
    parts_.push_back(declare_persistent_buffer(builder, std::move(part)));
    updates_.emplace_back();
    if (!host_ || swaps(i)) continue;
    Buffer update = groups.part(i, "update_gradient", BufferClass::gradient_shard, DType::float32);
    place_on_host(update, *host_);
    updates_.back() = declare_persistent_buffer(builder, std::move(update));
  }
  slot_ = {memory_};
}

// The parts of the sub-groups that have gradients in the bucket.
std::vector<BufferId> ScatterReduction::parts_with(std::size_t index) const {
  std::vector<BufferId> parts;
  for (std::size_t i = 0; i < groups_.count(); ++i) {
    const auto& taken = bucket(index).parameters;
    const auto is_in = [&](ParameterId parameter) { return groups_.group_of(parameter) == i; };
    if (std::any_of(taken.begin(), taken.end(), is_in)) parts.push_back(parts_[i]);
  }
  return parts;
}

void ScatterReduction::take(BufferId gradients, std::span<const ParameterId> parameters) {
  if (stream_ != StepBuilder::compute()) b_.wait(stream_, StepBuilder::compute());
  BucketedGradients::take(gradients, parameters);
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
  if (pending_.size() <= k_most_pending_reductions) return;
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  wait.waits = {pending_.front()};
  pending_.pop_front();
  b_.emit(std::move(wait));
}

void ScatterReduction::reduce(std::size_t index, BufferId source) {
  limit();
  const DType dtype = options_.communication_data_type.value_or(b_.plan().buffer(source).dtype);
  const BufferId gradients = converted(b_, source, dtype, stream_);
  if (exchange_ != nullptr) {
    exchange(gradients, index);
  } else {
    scatter(gradients, index);
  }
  if (gradients != source) b_.free({gradients});
  if (bucket(index).oversized) release(source);
  if (const auto last = b_.last_on(stream_)) pending_.push_back(*last);
}

void ScatterReduction::scatter(BufferId gradients, std::size_t index) {
  const GradientBucket& whole = bucket(index);
  const bool scatters = options_.reduce_scatter || whole.oversized;
  const bool in_place = !scatters || (whole.parameters.size() == 1 && whole.elements % ranks_ == 0);
  const BufferId sent = in_place ? gradients : copy_together(gradients, index);
  Instruction reduce;
  reduce.kind = scatters ? InstructionKind::ReduceScatter : InstructionKind::AllReduce;
  reduce.stream = stream_;
  reduce.unit = root_;
  reduce.group = group_;
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = b_.plan().buffer(sent).bytes();
  reduce.reads = reduce.writes = {sent};
  b_.emit(std::move(reduce));
  if (host_) {
    const BufferId kept = in_dtype_of_sums(sent, index, scatters);
    keep_on_host(kept, index);
    if (kept != sent) b_.free({kept});
  } else {
    take_part({sent}, index);
  }
  if (!in_place) b_.free({sent});
}

// What another dtype has carried becomes that of the sums before it leaves: of a scattered bucket this rank's
// elements (__avg_scatter_grads), else all of it (__avg_scatter_contiguous_grads).
BufferId ScatterReduction::in_dtype_of_sums(BufferId reduced, std::size_t index, bool scattered) {
  const DType sums = b_.plan().buffer(parts_.front()).dtype;
  if (!scattered || b_.plan().buffer(reduced).dtype == sums) return converted(b_, reduced, sums, stream_);
  Buffer own = groups_.part_of(in_order(index), label("own", index), BufferClass::gradient_shard, sums);
  own.stream = stream_;
  const BufferId made = b_.declare(std::move(own));
  Instruction cut;
  cut.kind = InstructionKind::Unpack;
  cut.stream = stream_;
  cut.unit = root_;
  cut.bytes = b_.plan().buffer(made).bytes();
  cut.reads = {reduced};
  cut.writes = cut.allocates = {made};
  b_.emit(std::move(cut));
  return made;
}

void ScatterReduction::exchange(BufferId gradients, std::size_t index) {
  const std::vector<BufferId> averages = exchange_->reduce(gradients, in_order(index), micro_batch_);
  take_part(averages, index);
  b_.free(averages);
}

std::vector<ParameterId> ScatterReduction::in_order(std::size_t index) const {
  std::vector<ParameterId> parameters = bucket(index).parameters;
  std::sort(parameters.begin(), parameters.end());
  return parameters;
}

BufferId ScatterReduction::copy_together(BufferId source, std::size_t index) {
  Buffer buffer;
  buffer.name = label("scatter", index);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.dtype = b_.plan().buffer(source).dtype;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::gathered_element_shards;
  buffer.parameters = in_order(index);
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
void ScatterReduction::take_part(const std::vector<BufferId>& reduced, std::size_t index) {
  const bool adds = micro_batch_ > 0;
  const std::vector<BufferId> parts = parts_with(index);
  Instruction take;
  take.kind = adds ? InstructionKind::Accumulate : InstructionKind::Unpack;
  take.stream = stream_;
  take.unit = root_;
  take.bytes =
      bytes_of((bucket(index).elements + ranks_ - 1) / ranks_, b_.plan().buffer(parts.front()).dtype);
  take.reads = reduced;
  if (adds) take.reads.insert(take.reads.end(), parts.begin(), parts.end());
  take.writes = parts;
  b_.emit(std::move(take));
}

// Before a sum there is nothing on the host: the first micro-batch goes there as it is, all at once.
void ScatterReduction::keep_on_host(BufferId reduced, std::size_t index) {
  const GradientBucket& whole = bucket(index);
  if (micro_batch_ == 0) {
    const std::vector<BufferId> parts = parts_with(index);
    Instruction keep = make_copy(b_, root_, {reduced}, parts);
    keep.stream = stream_;
    keep.bytes = bytes_of((whole.elements + ranks_ - 1) / ranks_, b_.plan().buffer(parts.front()).dtype);
    b_.emit(std::move(keep));
  }
  // In the order of definition but where the bucket is averaged as it is (stage3.py, __avg_scatter_*).
  const bool as_it_is = options_.contiguous_gradients && !whole.oversized && !options_.reduce_scatter;
  for (const ParameterId parameter : as_it_is ? whole.parameters : in_order(index))
    pass_through_device(parameter, reduced);
  if (!leaving_.empty()) swap_->gradients().leave(std::exchange(leaving_, {}), stream_);
}

// DeepSpeed brings it back in every micro-batch, whether anything is done with it or not.
void ScatterReduction::pass_through_device(ParameterId parameter, BufferId reduced) {
  const BufferId part = parts_[groups_.group_of(parameter)];
  Buffer buffer = groups_.part_of({parameter}, label("returned", parameter.index()),
                                  BufferClass::gradient_shard, b_.plan().buffer(part).dtype);
  buffer.stream = stream_;
  const BufferId returned = b_.declare(buffer);
  emit_transfer(b_, root_, part, returned, stream_);
  if (micro_batch_ > 0) {
    Instruction add;
    add.kind = InstructionKind::Accumulate;
    add.stream = stream_;
    add.unit = root_;
    add.bytes = buffer.bytes();
    add.reads = {reduced, returned};
    add.writes = {returned};
    b_.emit(std::move(add));
    Instruction keep = make_copy(b_, root_, {returned}, {part});
    keep.stream = stream_;
    keep.bytes = buffer.bytes();
    b_.emit(std::move(keep));
  }
  if (micro_batch_ != last_ || !send(returned, buffer)) b_.free({returned});
}

// In float32, made on the device. True where `returned` itself is what goes to a drive.
bool ScatterReduction::send(BufferId returned, const Buffer& like) {
  BufferId source = returned;
  if (like.dtype != DType::float32) {
    Buffer wide = like;
    wide.name.replace(0, std::string_view("returned").size(), "widened");
    wide.dtype = DType::float32;
    source = b_.declare(std::move(wide));
    Instruction widen = make_copy(b_, root_, {returned}, {source});
    widen.stream = stream_;
    widen.allocates = {source};
    b_.emit(std::move(widen));
  }
  const ParameterId parameter = like.parameters.front();
  if (swaps(groups_.group_of(parameter))) {
    swap_->gradients().measure(parameter, source, stream_);
    leaving_.push_back({parameter, source});
    return source == returned;
  }
  Instruction send = make_copy(b_, root_, {source}, {*updates_[groups_.group_of(parameter)]});
  send.stream = stream_;
  send.bytes = b_.plan().buffer(source).bytes();
  b_.emit(std::move(send));
  if (source != returned) b_.free({source});
  return false;
}

void ScatterReduction::close() {
  reduce_last();
  if (stream_ != StepBuilder::compute()) b_.wait(StepBuilder::compute(), stream_);
  if (stream_ != StepBuilder::compute() || host_) {
    const StreamId waiting = host_ ? host_->stream : StepBuilder::compute();
    if (const auto last = b_.last_on(stream_)) emit_host_wait(b_, waiting, *last);
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

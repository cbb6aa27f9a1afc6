#include "engine/strategies/zero12/host_gradients.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/zero/gradient_buckets.h"

namespace shardlab {
namespace {

std::int64_t largest_parameter(const StepBuilder& builder, const std::vector<ParameterId>& parameters) {
  std::int64_t most = 0;
  for (const ParameterId id : parameters) most = std::max(most, builder.graph().parameter(id).elements());
  return most;
}

}  // namespace

HostGradients::HostGradients(StepBuilder& builder, const FlatGroup& weights, UnitId root,
                             const HostState& host, int accumulation, int micro_batches)
    : b_(builder), weights_(weights), root_(root), host_(host), last_(accumulation - 1) {
  Buffer part = weights.part("gradients", BufferClass::gradient_shard, DType::float32);
  place_on_host(part, host);
  part_ = declare_persistent_buffer(builder, std::move(part));
  declare_scratch();
  if (micro_batches > 1) declare_sums();
}

// DeepSpeed makes them with the first micro-batch and keeps them; whole parameters are kept, whatever the
// rank needs of them.
void HostGradients::declare_sums() {
  const std::string name(to_string(BufferRole::gradient_sums));
  Buffer sums = weights_.part(name, BufferClass::gradient_shard, weights_.dtype());
  sums.role = BufferRole::gradient_sums;
  const std::int64_t beside = most_touched_elements(weights_.layout()) - sums.elements;
  place_on_host(sums, host_);
  sums_ = declare_persistent_buffer(b_, std::move(sums));
  if (beside <= 0) return;
  Buffer whole;
  whole.name = "beside_" + name;
  whole.buffer_class = BufferClass::gradient_shard;
  whole.dtype = weights_.dtype();
  whole.elements = beside;
  place_on_host(whole, host_);
  declare_persistent_buffer(b_, std::move(whole));
}

// temp_grad_buffer_for_gpu_offload and temp_grad_buffer_for_cpu_offload: the largest parameter, on both
// sides.
void HostGradients::declare_scratch() {
  Buffer scratch;
  scratch.name = "offload_scratch";
  scratch.buffer_class = BufferClass::workspace;
  scratch.dtype = weights_.dtype();
  scratch.elements = largest_parameter(b_, b_.plan().buffer(part_).parameters);
  declare_persistent_buffer(b_, scratch);
  scratch.name += ".host";
  place_on_host(scratch, host_);
  declare_persistent_buffer(b_, std::move(scratch));
}

Bytes HostGradients::own(std::int64_t elements, DType dtype) const {
  return bytes_of((elements + weights_.ranks() - 1) / weights_.ranks(), dtype);
}

void HostGradients::take(BufferId reduced, std::int64_t elements, int micro_batch, StreamId stream) {
  if (sums_) add_up(reduced, elements, micro_batch, stream);
  if (micro_batch == last_) send(reduced, elements, stream);
}

void HostGradients::add_up(BufferId reduced, std::int64_t elements, int micro_batch, StreamId stream) {
  await();
  if (micro_batch > 0) {
    Instruction add;
    add.kind = InstructionKind::Accumulate;
    add.stream = stream;
    add.unit = root_;
    add.bytes = own(elements, weights_.dtype());
    add.reads = {*sums_, reduced};
    add.writes = {reduced};
    b_.emit(std::move(add));
  }
  Instruction keep = make_copy(b_, root_, {reduced}, {*sums_});
  keep.stream = stream;
  keep.bytes = own(elements, weights_.dtype());
  sent_ = b_.emit(std::move(keep));
}

// One parameter after the other becomes float32 on the device: they take the memory of the largest.
void HostGradients::send(BufferId reduced, std::int64_t elements, StreamId stream) {
  Instruction send = make_copy(b_, root_, {reduced}, {part_});
  send.stream = stream;
  send.bytes = own(elements, DType::float32);
  if (b_.plan().buffer(reduced).dtype != DType::float32) {
    Buffer wide;
    wide.name = fmt::format("widened.{}", b_.plan().buffer(reduced).name);
    wide.buffer_class = BufferClass::workspace;
    wide.elements = std::min(largest_parameter(b_, b_.plan().buffer(reduced).parameters),
                             weights_.layout().flat_shard_elements());
    wide.stream = stream;
    const BufferId widened = b_.declare(std::move(wide));
    send.writes.push_back(widened);
    send.allocates = send.frees = {widened};
  }
  sent_ = b_.emit(std::move(send));
  await();
}

void HostGradients::await() {
  if (sent_) emit_host_wait(b_, host_.stream, *sent_);
  sent_.reset();
}

void HostGradients::close() {
  await();
}

}  // namespace shardlab

#include "engine/strategies/zero3/quantized_reduction.h"

#include <utility>

#include <fmt/format.h>

#include "engine/strategies/zero3/quantized_blocks.h"

namespace shardlab {

QuantizedReduction::QuantizedReduction(StepBuilder& builder, UnitId root, StreamId stream, GroupId group,
                                       int ranks, int node_ranks)
    : b_(builder),
      root_(root),
      stream_(stream),
      group_(group),
      node_(builder.add_part_group(GroupDimension::shard, node_ranks)),
      between_nodes_(builder.add_group_across(GroupDimension::shard, node_ranks, ranks / node_ranks)),
      ranks_(ranks),
      node_ranks_(node_ranks),
      nodes_(ranks / node_ranks) {}

std::vector<BufferId> QuantizedReduction::reduce(BufferId gradients,
                                                 const std::vector<ParameterId>& parameters,
                                                 int micro_batch) {
  micro_batch_ = micro_batch;
  std::vector<BufferId> averages;
  for (const ParameterId parameter : parameters) {
    const bool quantizes = quantizes_gradient(b_.graph().parameter(parameter).shape, ranks_);
    averages.push_back(quantizes ? exchange(gradients, parameter) : scatter(gradients, parameter));
  }
  drop_held();
  return averages;
}

Buffer QuantizedReduction::buffer(std::string_view what, ParameterId parameter) const {
  Buffer buffer;
  buffer.name = fmt::format("{}.{}.mb{}", what, parameter.value, micro_batch_);
  buffer.buffer_class = BufferClass::reduce_buffer;
  buffer.stream = stream_;
  return buffer;
}

// DeepSpeed copies it only where the ranks do not divide it.
BufferId QuantizedReduction::scatter(BufferId gradients, ParameterId parameter) {
  Buffer apart = buffer("scatter", parameter);
  apart.dtype = b_.plan().buffer(gradients).dtype;
  apart.layout = BufferLayout::gathered_element_shards;
  apart.parameters = {parameter};
  apart.shards = ranks_;
  apart.elements =
      make_layout(b_.graph(), apart.parameters, ranks_, 1, 1, ShardedBy::elements).gathered_elements();
  const BufferId sent = b_.declare(std::move(apart));
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.stream = stream_;
  pack.unit = root_;
  pack.bytes = b_.plan().buffer(sent).bytes();
  pack.reads = {gradients};
  pack.writes = pack.allocates = {sent};
  b_.emit(std::move(pack));
  Instruction reduce;
  reduce.kind = InstructionKind::ReduceScatter;
  reduce.stream = stream_;
  reduce.unit = root_;
  reduce.group = group_;
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = b_.plan().buffer(sent).bytes();
  reduce.reads = reduce.writes = {sent};
  b_.emit(std::move(reduce));
  return sent;
}

BufferId QuantizedReduction::exchange(BufferId gradients, ParameterId parameter) {
  const std::int64_t blocks = gradient_blocks(b_.graph().parameter(parameter).shape, ranks_);
  const Coded coded = declare_coded("four_bits", parameter, 1, blocks);
  // It is one of those that the bucket holds.
  const Bytes read = bytes_of(b_.graph().parameter(parameter).elements(), b_.plan().buffer(gradients).dtype);
  quantize({gradients}, read, {coded.numbers, coded.scales});
  hold(Step::coded, {coded.numbers, coded.scales});
  const Coded near = send(coded, "four_bits_near", parameter, node_);
  hold(Step::near, {near.numbers, near.scales});
  const Coded summed = declare_coded("four_bits_sum", parameter, node_ranks_, blocks / node_ranks_);
  quantize({near.numbers, near.scales}, bytes(near), {summed.numbers, summed.scales});
  hold(Step::summed, {summed.numbers, summed.scales});
  const Coded far = send(summed, "four_bits_far", parameter, between_nodes_);
  hold(Step::far, {far.numbers, far.scales});
  const BufferId wide = declare_part("half_of_four_bits", parameter, node_ranks_, DType::float16);
  quantize({far.numbers, far.scales}, bytes(far), {wide});
  hold(Step::wide, {wide});
  return average(wide, parameter);
}

// The parts of all nodes lie one after the other: Python's sum adds one by one, and divides.
BufferId QuantizedReduction::average(BufferId wide, ParameterId parameter) {
  const BufferId sum = declare_part("average", parameter, ranks_, DType::float16);
  const Bytes part = b_.plan().buffer(sum).bytes();
  Instruction first;
  first.kind = InstructionKind::Unpack;
  first.stream = stream_;
  first.unit = root_;
  first.bytes = part;
  first.reads = {wide};
  first.writes = first.allocates = {sum};
  b_.emit(std::move(first));
  Instruction add;
  add.kind = InstructionKind::Accumulate;
  add.stream = stream_;
  add.unit = root_;
  add.bytes = part * nodes_;
  add.reads = {wide, sum};
  add.writes = {sum};
  b_.emit(std::move(add));
  return sum;
}

// Two numbers to a byte.
QuantizedReduction::Coded QuantizedReduction::declare_coded(std::string_view what, ParameterId parameter,
                                                            int shards, std::int64_t blocks) {
  Buffer scales = buffer(fmt::format("{}_scales", what), parameter);
  scales.buffer_class = BufferClass::workspace;
  scales.elements = blocks;
  const BufferId numbers = declare_part(what, parameter, shards, DType::uint8);
  return {numbers, b_.declare(std::move(scales))};
}

BufferId QuantizedReduction::declare_part(std::string_view what, ParameterId parameter, int shards,
                                          DType dtype) {
  Buffer part = buffer(what, parameter);
  part.dtype = dtype;
  part.layout = BufferLayout::element_shards;
  part.parameters = {parameter};
  part.shards = shards;
  part.elements = b_.graph().parameter(parameter).elements() / shards / (dtype == DType::uint8 ? 2 : 1);
  return b_.declare(std::move(part));
}

QuantizedReduction::Coded QuantizedReduction::send(const Coded& coded, std::string_view what,
                                                   ParameterId parameter, GroupId group) {
  const int shards = b_.plan().buffer(coded.numbers).shards;
  const Coded arrived = declare_coded(what, parameter, shards, b_.plan().buffer(coded.scales).elements);
  send_one(coded.numbers, arrived.numbers, group, ReduceOperation::average);
  send_one(coded.scales, arrived.scales, group, ReduceOperation::none);
  return arrived;
}

void QuantizedReduction::send_one(BufferId from, BufferId to, GroupId group, ReduceOperation reduce) {
  Instruction exchange;
  exchange.kind = InstructionKind::AllToAll;
  exchange.stream = stream_;
  exchange.unit = root_;
  exchange.group = group;
  exchange.reduce = reduce;
  exchange.bytes = b_.plan().buffer(from).bytes();
  exchange.reads = {from};
  exchange.writes = exchange.allocates = {to};
  b_.emit(std::move(exchange));
}

void QuantizedReduction::quantize(std::vector<BufferId> from, Bytes read, std::vector<BufferId> to) {
  Instruction quantize;
  quantize.kind = InstructionKind::Quantize;
  quantize.stream = stream_;
  quantize.unit = root_;
  quantize.bytes = read;
  for (const BufferId written : to) quantize.bytes += b_.plan().buffer(written).bytes();
  quantize.reads = std::move(from);
  quantize.writes = quantize.allocates = std::move(to);
  b_.emit(std::move(quantize));
}

Bytes QuantizedReduction::bytes(const Coded& coded) const {
  return b_.plan().buffer(coded.numbers).bytes() + b_.plan().buffer(coded.scales).bytes();
}

void QuantizedReduction::hold(Step step, std::vector<BufferId> made) {
  std::vector<BufferId>& held = held_[static_cast<std::size_t>(step)];
  const std::vector<BufferId> before = std::exchange(held, std::move(made));
  if (!before.empty()) b_.free(before);
}

void QuantizedReduction::drop_held() {
  for (std::vector<BufferId>& held : held_) {
    if (!held.empty()) b_.free(std::exchange(held, {}));
  }
}

}  // namespace shardlab

#include "engine/strategies/zero3/quantized_gathers.h"

#include <utility>

#include <fmt/format.h>

#include "engine/strategies/zero3/parameter_numbers.h"
#include "engine/strategies/zero3/quantized_blocks.h"

namespace shardlab {

QuantizedGathers::Common QuantizedGathers::common(const std::vector<ParameterId>& parameters,
                                                  const std::vector<BufferId>& shards,
                                                  std::string_view prefix) const {
  const Buffer& first = b_.plan().buffer(shards.front());
  Common common;
  common.unit = *first.unit;
  common.prefix = prefix;
  common.shard.name = parameter_numbers(parameters);
  common.shard.buffer_class = BufferClass::gather_buffer;
  common.shard.dtype = first.dtype;
  common.shard.stream = stream_;
  common.shard.layout = BufferLayout::element_shards;
  common.shard.parameters = parameters;
  common.shard.shards = first.shards;
  common.shard.alignment = first.alignment;
  for (const BufferId shard : shards) common.shard.elements += b_.plan().buffer(shard).elements;
  return common;
}

BufferId QuantizedGathers::declared(Buffer buffer) {
  const std::string name = buffer.name;
  if (const auto known = declared_.find(name); known != declared_.end()) return known->second;
  return declared_[name] = b_.declare(std::move(buffer));
}

BufferId QuantizedGathers::part(const Common& common, std::string_view what, DType dtype) {
  Buffer buffer = common.shard;
  buffer.name = fmt::format("{}{}.{}", common.prefix, what, common.shard.name);
  buffer.dtype = dtype;
  return declared(std::move(buffer));
}

BufferId QuantizedGathers::gathered(const Common& common, std::string_view what, DType dtype) {
  Buffer buffer = common.shard;
  buffer.name = fmt::format("{}{}.{}", common.prefix, what, common.shard.name);
  buffer.dtype = dtype;
  buffer.layout = BufferLayout::gathered_element_shards;
  buffer.elements *= buffer.shards;
  return declared(std::move(buffer));
}

BufferId QuantizedGathers::scales(const Common& common, std::string_view what, int ranks) {
  Buffer buffer;
  buffer.name = fmt::format("{}{}.{}", common.prefix, what, common.shard.name);
  buffer.buffer_class = BufferClass::gather_buffer;
  buffer.elements = weight_blocks(common.shard.elements) * ranks;
  buffer.stream = stream_;
  return declared(std::move(buffer));
}

QuantizedGathers::Flight QuantizedGathers::gather(const std::vector<ParameterId>& parameters,
                                                  const std::vector<BufferId>& shards, GroupId group,
                                                  std::string_view prefix) {
  const Common its = common(parameters, shards, prefix);
  const BufferId numbers = gathered(its, "eight_bits", DType::uint8);
  allocate(numbers);
  std::vector<BufferId> passing;
  BufferId source = shards.front();
  if (shards.size() > 1) {
    passing.push_back(part(its, "joined", its.shard.dtype));
    copy(InstructionKind::Pack, its.unit, shards, passing.back());
    source = passing.back();
  }
  if (its.shard.dtype != DType::float16) {
    passing.push_back(part(its, "half_shard", DType::float16));
    copy(InstructionKind::Cast, its.unit, {source}, passing.back());
    source = passing.back();
  }
  Flight flight{parameters, {}, {}};
  flight.sent = {part(its, "eight_bits_shard", DType::uint8), scales(its, "scales_shard", 1)};
  flight.held = {numbers, scales(its, "scales", its.shard.shards)};
  quantize(its.unit, {source}, flight.sent);
  if (!passing.empty()) b_.free(std::move(passing));
  for (std::size_t i = 0; i < flight.sent.size(); ++i) send(its.unit, group, flight.sent[i], flight.held[i]);
  return flight;
}

void QuantizedGathers::land(Flight& flight, const std::vector<BufferId>& whole) {
  b_.free(std::exchange(flight.sent, {}));
  const UnitId unit = unit_of(whole.front());
  const bool as_it_is = b_.plan().buffer(whole.front()).dtype == DType::float16;
  if (whole.size() == 1 && as_it_is) return quantize(unit, flight.held, whole);
  Buffer turned = b_.plan().buffer(flight.held.front());
  turned.name = "half_of_" + turned.name;
  turned.dtype = DType::float16;
  const BufferId half = declared(std::move(turned));
  quantize(unit, flight.held, {half});
  if (whole.size() == 1) {
    copy(InstructionKind::Cast, unit, {half}, whole.front());
    b_.free({half});
    return;
  }
  flight.held.push_back(half);
  for (const BufferId each : whole) copy_out(half, each);
}

void QuantizedGathers::forget(Flight& flight) {
  b_.free(std::exchange(flight.held, {}));
}

// torch.cat makes float16 of its own of each.
void QuantizedGathers::copy_out(BufferId half, BufferId whole) {
  Buffer piece = b_.plan().buffer(whole);
  if (piece.dtype == DType::float16) return copy(InstructionKind::Unpack, *piece.unit, {half}, whole);
  piece.name = "half_of_" + piece.name;
  piece.buffer_class = BufferClass::gather_buffer;
  piece.dtype = DType::float16;
  piece.carried = false;
  const UnitId unit = *piece.unit;
  const BufferId cut = declared(std::move(piece));
  copy(InstructionKind::Unpack, unit, {half}, cut);
  copy(InstructionKind::Cast, unit, {cut}, whole);
  b_.free({cut});
}

void QuantizedGathers::allocate(BufferId buffer) {
  Instruction take;
  take.kind = InstructionKind::Alloc;
  take.stream = stream_;
  take.allocates = {buffer};
  b_.emit(std::move(take));
}

void QuantizedGathers::copy(InstructionKind kind, UnitId unit, const std::vector<BufferId>& from,
                            BufferId to) {
  Instruction copy;
  copy.kind = kind;
  copy.stream = stream_;
  copy.unit = unit;
  copy.bytes = b_.plan().buffer(to).bytes();
  copy.reads = from;
  copy.writes = copy.allocates = {to};
  b_.emit(std::move(copy));
}

void QuantizedGathers::quantize(UnitId unit, const std::vector<BufferId>& from,
                                const std::vector<BufferId>& to) {
  Instruction quantize;
  quantize.kind = InstructionKind::Quantize;
  quantize.stream = stream_;
  quantize.unit = unit;
  for (const auto* buffers : {&from, &to}) {
    for (const BufferId buffer : *buffers) quantize.bytes += b_.plan().buffer(buffer).bytes();
  }
  quantize.reads = from;
  quantize.writes = quantize.allocates = to;
  b_.emit(std::move(quantize));
}

void QuantizedGathers::send(UnitId unit, GroupId group, BufferId from, BufferId to) {
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = stream_;
  gather.unit = unit;
  gather.group = group;
  gather.bytes = b_.plan().buffer(to).bytes();
  gather.reads = {from};
  gather.writes = {to};
  if (!b_.is_live(to)) gather.allocates = {to};
  b_.emit(std::move(gather));
}

}  // namespace shardlab

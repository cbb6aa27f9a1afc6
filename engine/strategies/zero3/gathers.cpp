#include "engine/strategies/zero3/gathers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/zero3/parameter_numbers.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_pending_gathers = 2;  // __max_ongoing_fetch_events

std::string name_of(const StepBuilder& builder, std::string_view what, ParameterId parameter) {
  const UnitId unit = builder.partition().unit_of_parameter[parameter.index()];
  const std::vector<ParameterId>& all = builder.partition().unit(unit).parameters;
  const auto place = std::find(all.begin(), all.end(), parameter) - all.begin();
  const std::string name = fmt::format("{}.{}", what, builder.partition().unit(unit).name);
  return all.size() == 1 ? name : fmt::format("{}.{}", name, place);
}

}  // namespace

Gathers::Gathers(StepBuilder& builder, StreamId stream, GroupId group, int ranks, int neighbours,
                 std::optional<HostState> host, bool quantizes)
    : b_(builder), stream_(stream), group_(group), ranks_(ranks), host_(host) {
  for (std::size_t i = 0; i < builder.graph().parameters.size(); ++i) {
    const auto id = make_id<ParameterId>(i);
    Buffer shard = shard_buffer(id, "shard");
    if (host_) place_on_host(shard, *host_);
    shards_.push_back(declare_persistent_buffer(builder, std::move(shard)));
    whole_.push_back(builder.declare(whole_buffer(id)));
    if (!host_) continue;
    Buffer arrived = shard_buffer(id, "arrived");
    arrived.stream = stream_;
    arrived_.push_back(builder.declare(std::move(arrived)));
  }
  if (neighbours > 1) secondary_.emplace(builder, whole_, ranks, neighbours);
  if (quantizes) quantized_.emplace(builder, stream);
}

Buffer Gathers::shard_buffer(ParameterId parameter, std::string_view name) const {
  Buffer shard = whole_buffer(parameter);
  shard.name = name_of(b_, name, parameter);
  shard.buffer_class = BufferClass::parameter_shard;
  shard.layout = BufferLayout::element_shards;
  shard.shards = ranks_;
  shard.elements = shard.elements / ranks_;
  shard.stream = StepBuilder::compute();
  return shard;
}

// The shard on the device.
BufferId Gathers::bring(ParameterId parameter, StreamId stream, From from) {
  if (from == From::neighbours) return secondary_->shard(parameter);
  if (!host_) return shard(parameter);
  const BufferId arrived = arrived_[parameter.index()];
  const InstructionId copied =
      emit_transfer(b_, b_.plan().buffer(arrived).unit, shard(parameter), arrived, stream);
  emit_host_wait(b_, host_->stream, copied);
  return arrived;
}

Buffer Gathers::whole_buffer(ParameterId parameter) const {
  const UnitId unit = b_.partition().unit_of_parameter[parameter.index()];
  const std::int64_t elements = b_.graph().parameter(parameter).elements();
  Buffer buffer;
  buffer.name = name_of(b_, "full", parameter);
  buffer.buffer_class = BufferClass::gathered_parameters;
  buffer.dtype = b_.partition().unit(unit).settings.precision.param;
  buffer.elements = (elements + ranks_ - 1) / ranks_ * ranks_;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::parameters;
  buffer.parameters = {parameter};
  buffer.unit = unit;
  return buffer;
}

void Gathers::gather(const std::vector<ParameterId>& parameters, bool sequentially) {
  if (!secondary_) return gather_from(From::all_ranks, parameters, sequentially);
  std::vector<ParameterId> near = parameters, far = parameters;
  std::erase_if(near, [&](ParameterId parameter) { return !secondary_->exists(parameter); });
  std::erase_if(far, [&](ParameterId parameter) { return secondary_->exists(parameter); });
  gather_from(From::neighbours, near, sequentially);
  gather_from(From::all_ranks, far, sequentially);
}

void Gathers::gather_from(From from, const std::vector<ParameterId>& parameters, bool sequentially) {
  if (parameters.empty()) return;
  const bool together = parameters.size() > 1 && !sequentially;
  if (quantized_) {
    gather_quantized(parameters, from, together);
  } else if (together) {
    gather_together(parameters, from);
  } else {
    gather_each(parameters, from);
  }
  take_off(parameters);
}

void Gathers::gather_asked_for(const std::vector<ParameterId>& parameters) {
  if (parameters.empty()) return;
  gather_each(parameters, From::all_ranks);
  take_off(parameters);
}

void Gathers::take_off(const std::vector<ParameterId>& parameters) {
  flights_.back().awaited = parameters.size();
  for (const ParameterId parameter : parameters) {
    forget(parameter);
    flight_of_[parameter] = flights_.size() - 1;
  }
}

void Gathers::gather_each(const std::vector<ParameterId>& parameters, From from) {
  for (const ParameterId parameter : parameters) gather_one(parameter, stream_, from);
  flights_.push_back({parameters});
}

void Gathers::gather_quantized(const std::vector<ParameterId>& parameters, From from, bool together) {
  Flight flight{parameters};
  const std::string_view prefix = from == From::neighbours ? "secondary_" : "";
  const auto send = [&](const std::vector<ParameterId>& some) {
    std::vector<BufferId> shards;
    for (const ParameterId parameter : some) shards.push_back(bring(parameter, stream_, from));
    flight.quantized.push_back(quantized_->gather(some, shards, group(from), prefix));
  };
  if (together) {
    send(parameters);
  } else {
    for (const ParameterId parameter : parameters) send({parameter});
  }
  flights_.push_back(std::move(flight));
}

void Gathers::gather_one(ParameterId parameter, StreamId stream, From from) {
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = stream;
  gather.unit = b_.plan().buffer(whole(parameter)).unit;
  gather.group = group(from);
  gather.bytes = b_.plan().buffer(whole(parameter)).bytes();
  const BufferId source = bring(parameter, stream, from);
  gather.reads = {source};
  gather.writes = gather.allocates = {whole(parameter)};
  b_.emit(std::move(gather));
  if (host_ && from == From::all_ranks) b_.free({source});
}

// The same parameters have the same buffer, whenever they are gathered together.
BufferId Gathers::flat_buffer(const std::vector<ParameterId>& parameters, From from) {
  Buffer buffer;
  buffer.name = fmt::format("{}.{}", from == From::all_ranks ? "gather" : "secondary_gather",
                            parameter_numbers(parameters));
  if (const auto known = flat_.find(buffer.name); known != flat_.end()) return known->second;
  buffer.buffer_class = BufferClass::gather_buffer;
  buffer.dtype = b_.plan().buffer(whole(parameters.front())).dtype;
  buffer.stream = stream_;
  buffer.layout = BufferLayout::gathered_element_shards;
  buffer.parameters = parameters;
  buffer.shards = from == From::all_ranks ? ranks_ : secondary_->neighbours();
  if (from == From::neighbours) buffer.alignment = ranks_;
  for (const ParameterId parameter : parameters)
    buffer.elements += b_.plan().buffer(whole(parameter)).elements;
  const std::string name = buffer.name;
  return flat_[name] = b_.declare(std::move(buffer));
}

void Gathers::gather_together(const std::vector<ParameterId>& parameters, From from) {
  const BufferId flat = flat_buffer(parameters, from);
  Instruction pack;
  pack.kind = InstructionKind::Pack;
  pack.stream = stream_;
  pack.unit = b_.plan().buffer(whole(parameters.front())).unit;
  pack.bytes = Bytes{b_.plan().buffer(flat).bytes().value / b_.plan().buffer(flat).shards};
  for (const ParameterId parameter : parameters) pack.reads.push_back(bring(parameter, stream_, from));
  pack.writes = pack.allocates = {flat};
  const std::vector<BufferId> sources = pack.reads;
  b_.emit(std::move(pack));
  if (host_ && from == From::all_ranks) b_.free(sources);
  Instruction gather;
  gather.kind = InstructionKind::AllGather;
  gather.stream = stream_;
  gather.unit = b_.plan().buffer(whole(parameters.front())).unit;
  gather.group = group(from);
  gather.bytes = b_.plan().buffer(flat).bytes();
  gather.reads = gather.writes = {flat};
  b_.emit(std::move(gather));
  flights_.push_back({parameters, flat});
}

void Gathers::wait(const std::vector<ParameterId>& parameters) {
  for (const ParameterId parameter : parameters) {
    const auto found = flight_of_.find(parameter);
    if (found == flight_of_.end()) continue;
    Flight& flight = flights_[found->second];
    limit();
    if (!flight.landed) land(flight);
    forget(parameter);
    if (const auto last = b_.last_on(stream_)) landed_.push_back(*last);
  }
  if (stream_ != StepBuilder::compute()) b_.wait(StepBuilder::compute(), stream_);
}

// The host waits for the oldest of more than two.
void Gathers::limit() {
  if (landed_.size() <= k_most_pending_gathers) return;
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  wait.waits = {landed_.front()};
  landed_.pop_front();
  b_.emit(std::move(wait));
}

void Gathers::land(Flight& flight) {
  flight.landed = true;
  for (QuantizedGathers::Flight& each : flight.quantized) {
    std::vector<BufferId> whole;
    for (const ParameterId parameter : each.parameters) whole.push_back(this->whole(parameter));
    quantized_->land(each, whole);
  }
  if (!flight.flat) return;
  Instruction unpack;
  unpack.kind = InstructionKind::Unpack;
  unpack.stream = stream_;
  unpack.unit = b_.plan().buffer(whole(flight.parameters.front())).unit;
  unpack.bytes = b_.plan().buffer(*flight.flat).bytes();
  unpack.reads = {*flight.flat};
  for (const ParameterId parameter : flight.parameters) unpack.writes.push_back(whole(parameter));
  unpack.allocates = unpack.writes;
  b_.emit(std::move(unpack));
}

// Who waits for the last of a gather lets its buffer go.
void Gathers::forget(ParameterId parameter) {
  const auto found = flight_of_.find(parameter);
  if (found == flight_of_.end()) return;
  Flight& flight = flights_[found->second];
  flight_of_.erase(found);
  if (--flight.awaited > 0 || !flight.landed) return;
  if (flight.flat) b_.free({*flight.flat});
  for (QuantizedGathers::Flight& each : flight.quantized) quantized_->forget(each);
}

void Gathers::release(const std::vector<ParameterId>& parameters) {
  for (const ParameterId parameter : parameters) forget(parameter);
  std::vector<ParameterId> together;
  for (const ParameterId parameter : parameters) {
    if (!secondary_ || secondary_->exists(parameter)) {
      together.push_back(parameter);
      continue;
    }
    secondary_->cut(parameter, whole(parameter), stream_);
    free({parameter});
  }
  free(together);
}

void Gathers::forget_secondary() {
  if (secondary_) secondary_->invalidate();
}

// Their memory belongs to the stream of the gathers, and compute has used it: record_stream.
void Gathers::free(const std::vector<ParameterId>& parameters) {
  if (parameters.empty()) return;
  Instruction free;
  free.kind = InstructionKind::Free;
  free.stream = stream_;
  free.unit = b_.plan().buffer(whole(parameters.front())).unit;
  for (const ParameterId parameter : parameters) free.frees.push_back(whole(parameter));
  free.recorded = stream_ != StepBuilder::compute();
  b_.emit(std::move(free));
}

void Gathers::gather_in_place(const std::vector<ParameterId>& parameters) {
  for (const ParameterId parameter : parameters)
    gather_one(parameter, StepBuilder::compute(), From::all_ranks);
}

}  // namespace shardlab

#include "engine/strategies/strategy.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab {

void Strategy::begin_micro_batch(int micro_batch, bool reduce_gradients) {
  micro_batch_ = micro_batch;
  reduce_gradients_ = reduce_gradients;
}

BufferId Strategy::gradient_buffer(UnitId unit, SegmentId segment) {
  gradients_.resize(b_.partition().units.size());
  for (const GradientBuffer& known : gradients_[unit.index()]) {
    if (known.segment == segment) return known.buffer;
  }
  const Partition& partition = b_.partition();
  Buffer buffer;
  buffer.name = fmt::format("grad.{}.{}", partition.unit(unit).name, partition.segment(segment).name);
  buffer.buffer_class = BufferClass::gradient;
  buffer.dtype = b_.graph().compute_dtype;
  buffer.layout = BufferLayout::parameters;
  buffer.unit = unit;
  for (const ParameterId parameter : partition.segment(segment).gradients) {
    if (partition.unit_of_parameter[parameter.index()] != unit) continue;
    buffer.parameters.push_back(parameter);
    buffer.elements += b_.graph().parameter(parameter).elements();
  }
  const BufferId id = b_.declare(std::move(buffer));
  gradients_[unit.index()].push_back({segment, id});
  return id;
}

std::vector<BufferId> Strategy::live_gradients(UnitId unit) const {
  std::vector<GradientBuffer> known;
  if (unit.index() < gradients_.size()) known = gradients_[unit.index()];
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.segment < b.segment; });
  std::vector<BufferId> live;
  for (const GradientBuffer& gradient : known) {
    if (b_.is_live(gradient.buffer)) live.push_back(gradient.buffer);
  }
  return live;
}

}  // namespace shardlab

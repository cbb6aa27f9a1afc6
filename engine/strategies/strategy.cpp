#include "engine/strategies/strategy.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab {

void Strategy::begin_micro_batch(int micro_batch, bool reduce_gradients) {
  micro_batch_ = micro_batch;
  reduce_gradients_ = reduce_gradients;
}

BufferId Strategy::gradient_buffer(ParameterId parameter) {
  const Partition& partition = b_.partition();
  gradient_of_parameter_.resize(b_.graph().parameters.size());
  gradients_.resize(partition.units.size());
  if (const auto known = gradient_of_parameter_[parameter.index()]) return *known;

  const UnitId unit = partition.unit_of_parameter[parameter.index()];
  const Segment& segment = partition.segment(partition.gradient_segment[parameter.index()]);
  const bool alone = has_own_gradient_buffer(parameter);
  Buffer buffer;
  buffer.name = fmt::format("grad.{}.{}", partition.unit(unit).name, segment.name);
  if (alone) buffer.name += own_suffix(segment, parameter);
  buffer.buffer_class = BufferClass::gradient;
  buffer.dtype = b_.partition().unit(unit).settings.precision.param;
  buffer.layout = BufferLayout::separate_parameters;
  buffer.unit = unit;
  const auto id = make_id<BufferId>(b_.plan().buffers.size());
  for (const ParameterId other : segment.gradients) {
    const bool shares = partition.unit_of_parameter[other.index()] == unit && !has_own_gradient_buffer(other);
    if (alone ? other != parameter : !shares) continue;
    gradient_of_parameter_[other.index()] = id;
    buffer.parameters.push_back(other);
    buffer.elements += b_.graph().parameter(other).elements();
  }
  shape_gradient(unit, buffer);
  gradients_[unit.index()].push_back(id);
  return b_.declare(std::move(buffer));
}

// Several of a segment that have their own are told apart by their place in the unit.
std::string Strategy::own_suffix(const Segment& segment, ParameterId parameter) const {
  const Partition& partition = b_.partition();
  const UnitId unit = partition.unit_of_parameter[parameter.index()];
  const auto own = std::count_if(segment.gradients.begin(), segment.gradients.end(), [&](ParameterId other) {
    return partition.unit_of_parameter[other.index()] == unit && has_own_gradient_buffer(other);
  });
  const std::vector<ParameterId>& all = partition.unit(unit).parameters;
  const auto place = std::find(all.begin(), all.end(), parameter) - all.begin();
  return own == 1 ? ".last" : fmt::format(".last.{}", place);
}

std::vector<BufferId> Strategy::live_gradients(UnitId unit) const {
  std::vector<BufferId> live;
  if (unit.index() >= gradients_.size()) return live;
  for (const BufferId buffer : gradients_[unit.index()]) {
    if (b_.is_live(buffer)) live.push_back(buffer);
  }
  const auto first_parameter = [&](BufferId id) { return b_.plan().buffer(id).parameters.front(); };
  std::sort(live.begin(), live.end(),
            [&](BufferId a, BufferId b) { return first_parameter(a) < first_parameter(b); });
  return live;
}

std::vector<BufferId> Strategy::live_gradients() const {
  std::vector<BufferId> all;
  for (const UnitId unit : units()) {
    const std::vector<BufferId> live = live_gradients(unit);
    all.insert(all.end(), live.begin(), live.end());
  }
  return all;
}

}  // namespace shardlab

#include "engine/strategies/region_offload.h"

#include <algorithm>

#include "engine/strategies/host_state.h"

namespace shardlab {

void RegionOffload::send(SegmentId id, int micro_batch) {
  const Segment& segment = partition_.segment(id);
  if (!is_on_ || !segment.region || partition_.region(*segment.region).first != id) return;
  for (const TensorId tensor : segment.inputs) {
    if (!holds(segment, tensor)) continue;
    const BufferId value = b_.value_buffer(tensor, micro_batch);
    const InstructionId sent = emit_transfer(
        b_, segment.unit, value, b_.offloaded_buffer(tensor, micro_batch), StepBuilder::compute());
    emit_host_wait(b_, StepBuilder::compute(), sent);
  }
}

bool RegionOffload::holds(const Segment& reader, TensorId tensor) const {
  if (!is_on_ || !reader.region || graph_.tensor(tensor).role != TensorRole::activation) return false;
  const Region& region = partition_.region(*reader.region);
  const std::vector<TensorId>& inputs = partition_.segment(region.first).inputs;
  return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
}

BufferId RegionOffload::bring_back(TensorId tensor, int micro_batch) {
  const BufferId returned = b_.returned_buffer(tensor, micro_batch);
  if (!b_.is_live(returned))
    emit_transfer(b_, std::nullopt, b_.offloaded_buffer(tensor, micro_batch), returned,
                  StepBuilder::compute());
  return returned;
}

}  // namespace shardlab

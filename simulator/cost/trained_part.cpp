#include "simulator/cost/trained_part.h"

namespace shardlab {

TrainedPart trained_part(const ModelGraph& graph, const Buffer& buffer) {
  std::int64_t all = 0, trained = 0;
  TrainedPart part;
  for (const ParameterId id : buffer.parameters) {
    const Parameter& parameter = graph.parameter(id);
    all += parameter.elements();
    if (!parameter.trainable) continue;
    trained += parameter.elements();
    ++part.tensors;
  }
  const bool holds_frozen =
      buffer.buffer_class == BufferClass::parameter || buffer.buffer_class == BufferClass::parameter_shard ||
      buffer.buffer_class == BufferClass::gradient || buffer.buffer_class == BufferClass::gradient_shard;
  if (holds_frozen && all > 0 && buffer.layout != BufferLayout::trained_flat_shard)
    part.share = static_cast<double>(trained) / static_cast<double>(all);
  return part;
}

}  // namespace shardlab

// The numbers by which people describe a transformer, read off its graph.
#pragma once

#include <cstdint>

#include "engine/model/model_graph.h"

namespace shardlab {

// The dimensions of the model that is trained, without its teacher and adapters. A field is zero where a
// model has no such thing.
struct ModelDimensions {
  std::int64_t layers = 0;
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;  // width of the embedding
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t feed_forward = 0;  // of a layer's widest matrices; those are in its feed-forward network
  int feed_forward_matrices = 0;  // with that width: three where a gate multiplies
  bool has_experts = false;

  friend bool operator==(const ModelDimensions&, const ModelDimensions&) = default;
};

ModelDimensions model_dimensions(const ModelGraph& graph);

}  // namespace shardlab

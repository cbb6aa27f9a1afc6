// What an optimizer touches of buffers that hold frozen parameters beside trained ones.
#pragma once

#include <cstdint>

#include "engine/model/model_graph.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

struct TrainedPart {
  std::int64_t tensors = 0;  // trained ones of those in the buffer
  double share = 1;          // their part of its elements, spread evenly over the ranks
};

// What it touches of parameters and gradients, in any layout; all of any other buffer.
TrainedPart trained_part(const ModelGraph& graph, const Buffer& buffer);

}  // namespace shardlab

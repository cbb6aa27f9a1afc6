// How published checkpoints name what a model holds otherwise: transformers 5 stacks the weights of experts,
// files on the hub have them one by one (conversion_mapping.py of transformers 5.23).
#pragma once

#include <string>
#include <vector>

#include "engine/model/model_graph.h"

namespace shardlab {

// A tensor of a published checkpoint and the elements of the parameter that it holds, from `first` on.
struct PublishedTensor {
  std::string name;
  Shape shape;
  std::int64_t first = 0;
};

// The tensors that together are the parameter, in order of their elements; none when it is published under
// its own name.
std::vector<PublishedTensor> published_tensors(const ModelGraph& graph, const Parameter& parameter);

}  // namespace shardlab

// Writes the graph of a probe: one operator, whose inputs want gradients as activations do. Private to this
// folder.
#pragma once

#include <string_view>
#include <vector>

#include "engine/model/graph_builder.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/probe_recipe.h"

namespace shardlab {

// Throws std::out_of_range where the shape lacks the number.
inline std::int64_t extent(const ProbeShape& shape, const char* name) {
  return shape.at(name);
}

class ProbeGraph {
 public:
  ProbeGraph(const OperatorType& type, DType dtype);

  TensorId activation(Shape shape);
  TensorId constant(Shape shape, DType dtype, Attributes attributes);
  // Numbers below the vocabulary: tokens, targets.
  TensorId ids(Shape shape, TensorRole role);
  ParameterId parameter(Shape shape, InitialValue initial = InitialValue::uniform);

  // An output without extents is a loss.
  ModelGraph finish(std::vector<TensorId> inputs, std::vector<ParameterId> parameters, Shape output,
                    Attributes attributes = {}, std::int64_t vocabulary = 1);

 private:
  const OperatorType& type_;
  const DType dtype_;
  GraphBuilder builder_;
  ModuleId module_;
  std::vector<TensorId> wanted_;
};

}  // namespace shardlab

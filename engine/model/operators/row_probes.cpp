// Recipes of operators that take rows: sums, norms, activations, casts.
#include "engine/model/operators/probe_graph.h"

namespace shardlab {
namespace {

ProbeShape rows_at(const ProbeSize& size) {
  return {{"rows", size.rows()}, {"width", size.width}};
}
ProbeShape gated_at(const ProbeSize& size) {
  return {{"rows", size.rows()}, {"width", size.inner_width}};
}

std::optional<ProbeShape> rows_of(const ModelGraph& graph, const Operator& op) {
  return ProbeShape{{"rows", graph.micro_batch * graph.sequence_length},
                    {"width", graph.tensor(op.inputs[0]).shape.back()}};
}
// That of experts has one input, as many rows as there are assignments.
std::optional<ProbeShape> gated_of(const ModelGraph& graph, const Operator& op) {
  return op.inputs.size() == 2 ? rows_of(graph, op) : std::nullopt;
}

Shape rows_in(const ProbeShape& shape) {
  return {1, extent(shape, "rows"), extent(shape, "width")};
}

ModelGraph row_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const TensorId x = graph.activation(rows_in(shape));
  return graph.finish({x}, {}, rows_in(shape));
}

ModelGraph norm_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const TensorId x = graph.activation(rows_in(shape));
  const ParameterId weight = graph.parameter({extent(shape, "width")}, InitialValue::ones);
  return graph.finish({x}, {weight}, rows_in(shape), {{attribute::k_epsilon, 1e-5}});
}

ModelGraph pair_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const TensorId a = graph.activation(rows_in(shape)), b = graph.activation(rows_in(shape));
  return graph.finish({a, b}, {}, rows_in(shape));
}

ModelGraph cap_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const TensorId x = graph.activation(rows_in(shape));
  return graph.finish({x}, {}, rows_in(shape), {{attribute::k_cap, 30}});
}

ModelGraph cast_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ModelGraph graph = row_graph(type, dtype, shape);
  const TensorId output = graph.operators.front().outputs.front();
  graph.tensors[output.index()].dtype = dtype == DType::float32 ? DType::bfloat16 : DType::float32;
  return graph;
}

}  // namespace

extern const ProbeRecipe k_row_probe{.at = rows_at, .of = rows_of, .graph = row_graph};
extern const ProbeRecipe k_inner_row_probe{.at = gated_at, .of = rows_of, .graph = row_graph};
extern const ProbeRecipe k_norm_probe{.at = rows_at, .of = rows_of, .graph = norm_graph};
extern const ProbeRecipe k_sum_probe{.at = rows_at, .of = rows_of, .graph = pair_graph};
extern const ProbeRecipe k_gated_probe{.at = gated_at, .of = gated_of, .graph = pair_graph};
extern const ProbeRecipe k_cap_probe{.at = rows_at, .of = rows_of, .graph = cap_graph};
extern const ProbeRecipe k_cast_probe{.at = rows_at, .of = rows_of, .graph = cast_graph};

}  // namespace shardlab

// Recipes of products, of rows by token and of losses: operators with a large weight or a vocabulary.
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_graph.h"

namespace shardlab {
namespace {

std::int64_t rows(const ModelGraph& graph) {
  return graph.micro_batch * graph.sequence_length;
}

ProbeShape product_at(const ProbeSize& size) {
  return {{"rows", size.rows()}, {"inputs", size.width}, {"outputs", size.inner_width}};
}

ProbeShape product_of_input(const ModelGraph& graph, const Operator& op, std::size_t input) {
  return {{"rows", rows(graph)},
          {"inputs", graph.tensor(op.inputs[input]).shape.back()},
          {"outputs", graph.tensor(op.outputs[0]).shape.back()}};
}
std::optional<ProbeShape> product_of(const ModelGraph& graph, const Operator& op) {
  return product_of_input(graph, op, 0);
}
std::optional<ProbeShape> added_product_of(const ModelGraph& graph, const Operator& op) {
  return product_of_input(graph, op, 1);
}

ModelGraph product_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  const std::int64_t inputs = extent(shape, "inputs"), outputs = extent(shape, "outputs");
  ProbeGraph graph(type, dtype);
  const TensorId x = graph.activation({1, extent(shape, "rows"), inputs});
  return graph.finish({x}, {graph.parameter({outputs, inputs})}, {1, extent(shape, "rows"), outputs});
}

ProbeShape embedding_at(const ProbeSize& size) {
  return {{"rows", size.rows()}, {"width", size.width}, {"vocabulary", size.vocabulary}};
}

std::optional<ProbeShape> embedding_of(const ModelGraph& graph, const Operator& op) {
  return ProbeShape{{"rows", rows(graph)},
                    {"width", graph.tensor(op.outputs[0]).shape.back()},
                    {"vocabulary", graph.vocabulary}};
}

ModelGraph embedding_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  const std::int64_t width = extent(shape, "width"), vocabulary = extent(shape, "vocabulary");
  ProbeGraph graph(type, dtype);
  const TensorId tokens = graph.ids({1, extent(shape, "rows")}, TensorRole::tokens);
  return graph.finish({tokens}, {graph.parameter({vocabulary, width})}, {1, extent(shape, "rows"), width}, {},
                      vocabulary);
}

ProbeShape loss_at(const ProbeSize& size) {
  return {{"rows", size.rows()}, {"width", 1}, {"vocabulary", size.vocabulary}};
}

std::optional<ProbeShape> loss_of(const ModelGraph& graph, const Operator& op) {
  return ProbeShape{
      {"rows", rows(graph)}, {"width", 1}, {"vocabulary", graph.tensor(op.inputs[0]).shape.back()}};
}

ModelGraph loss_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  const std::int64_t vocabulary = extent(shape, "vocabulary");
  ProbeGraph graph(type, dtype);
  const TensorId logits = graph.activation({1, extent(shape, "rows"), vocabulary});
  const TensorId targets = graph.ids({1, extent(shape, "rows")}, TensorRole::targets);
  return graph.finish({logits, targets}, {}, {}, {}, vocabulary);
}

}  // namespace

extern const ProbeRecipe k_product_probe{
    .group = ProbeGroup::product, .at = product_at, .of = product_of, .graph = product_graph};
extern const ProbeRecipe k_added_product_probe{
    .group = ProbeGroup::product, .of = added_product_of, .measured_as = &k_linear};
extern const ProbeRecipe k_embedding_probe{
    .group = ProbeGroup::table, .at = embedding_at, .of = embedding_of, .graph = embedding_graph};
extern const ProbeRecipe k_loss_probe{
    .group = ProbeGroup::loss, .at = loss_at, .of = loss_of, .graph = loss_graph};

}  // namespace shardlab

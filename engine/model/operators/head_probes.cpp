// Recipes of operators that take heads: attention and rotary embeddings.
#include "engine/model/constants.h"
#include "engine/model/operators/probe_graph.h"

namespace shardlab {
namespace {

ProbeShape heads_at(const ProbeSize& size) {
  return {
      {"batch", size.batch}, {"sequence", size.sequence}, {"heads", size.heads}, {"head_dim", size.head_dim}};
}
ProbeShape kv_heads_at(const ProbeSize& size) {
  ProbeShape shape = heads_at(size);
  shape["kv_heads"] = size.kv_heads;
  return shape;
}

std::optional<ProbeShape> rope_of(const ModelGraph& graph, const Operator& op) {
  const Shape& x = graph.tensor(op.inputs[0]).shape;
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim);
  return ProbeShape{
      {"batch", x[0]}, {"sequence", x[1]}, {"heads", x.back() / head_dim}, {"head_dim", head_dim}};
}

std::optional<ProbeShape> packed_rope_of(const ModelGraph& graph, const Operator& op) {
  const Shape& x = graph.tensor(op.inputs[0]).shape;
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim);
  const std::int64_t turned = op.attributes.get(attribute::k_turned);
  const std::int64_t kv_heads = x.back() / head_dim / (turned + 1);
  return ProbeShape{{"batch", x[0]},
                    {"sequence", x[1]},
                    {"heads", kv_heads * (turned - 1)},
                    {"kv_heads", kv_heads},
                    {"head_dim", head_dim}};
}

std::optional<ProbeShape> attention_of(const ModelGraph& graph, const Operator& op) {
  const Shape& q = graph.tensor(op.inputs[0]).shape;
  return ProbeShape{{"batch", q[0]},
                    {"sequence", q[1]},
                    {"heads", op.attributes.get(attribute::k_heads)},
                    {"kv_heads", op.attributes.get(attribute::k_kv_heads)},
                    {"head_dim", op.attributes.get(attribute::k_head_dim)}};
}

Shape rows_of_heads(const ProbeShape& shape, std::int64_t heads) {
  return {extent(shape, "batch"), extent(shape, "sequence"), heads * extent(shape, "head_dim")};
}

Attributes table_attributes() {
  return rope_table_attributes(10000, RopeScaling::none, 1, 1, 4, 1);
}
TensorId narrow_table(ProbeGraph& graph, const ProbeShape& shape) {
  return graph.constant({2, extent(shape, "sequence"), extent(shape, "head_dim") / 2}, DType::float32,
                        table_attributes());
}
TensorId wide_table(ProbeGraph& graph, DType dtype, const ProbeShape& shape) {
  return graph.constant({2, extent(shape, "sequence"), extent(shape, "head_dim")}, dtype,
                        with_both_halves(table_attributes()));
}

ModelGraph rope_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const Shape rows = rows_of_heads(shape, extent(shape, "heads"));
  const TensorId x = graph.activation(rows);
  return graph.finish({x, narrow_table(graph, shape)}, {}, rows,
                      {{attribute::k_head_dim, extent(shape, "head_dim")}});
}

ModelGraph eager_rope_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const Shape rows = rows_of_heads(shape, extent(shape, "heads"));
  const TensorId x = graph.activation(rows);
  return graph.finish({x, wide_table(graph, dtype, shape)}, {}, rows,
                      {{attribute::k_head_dim, extent(shape, "head_dim")}});
}

// One key head stays one; several are repeated for each query head.
ModelGraph packed_rope_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const std::int64_t heads = extent(shape, "heads"), kv_heads = extent(shape, "kv_heads");
  const TensorId x = graph.activation(rows_of_heads(shape, heads + 2 * kv_heads));
  return graph.finish({x, wide_table(graph, dtype, shape)}, {},
                      rows_of_heads(shape, heads + 2 * (kv_heads == 1 ? 1 : heads)),
                      {{attribute::k_head_dim, extent(shape, "head_dim")},
                       {attribute::k_turned, heads / kv_heads + 1},
                       {attribute::k_passed, 1}});
}

ModelGraph attention_graph(const OperatorType& type, DType dtype, const ProbeShape& shape) {
  ProbeGraph graph(type, dtype);
  const std::int64_t heads = extent(shape, "heads"), kv_heads = extent(shape, "kv_heads");
  const Shape rows = rows_of_heads(shape, heads);
  const TensorId q = graph.activation(rows), k = graph.activation(rows_of_heads(shape, kv_heads)),
                 v = graph.activation(rows_of_heads(shape, kv_heads));
  return graph.finish({q, k, v}, {}, rows,
                      {{attribute::k_heads, heads},
                       {attribute::k_kv_heads, kv_heads},
                       {attribute::k_head_dim, extent(shape, "head_dim")}});
}

}  // namespace

extern const ProbeRecipe k_rope_probe{.at = heads_at, .of = rope_of, .graph = rope_graph};
extern const ProbeRecipe k_eager_rope_probe{.at = heads_at, .of = rope_of, .graph = eager_rope_graph};
extern const ProbeRecipe k_packed_rope_probe{
    .at = kv_heads_at, .of = packed_rope_of, .graph = packed_rope_graph};
extern const ProbeRecipe k_attention_probe{
    .group = ProbeGroup::attention, .at = kv_heads_at, .of = attention_of, .graph = attention_graph};

}  // namespace shardlab

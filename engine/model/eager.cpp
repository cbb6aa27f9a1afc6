#include "engine/model/eager.h"

#include <algorithm>

#include "engine/model/constants.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

Status refuse(const ModelGraph& graph, std::string_view what) {
  return bad_input("model.implementation",
                   "not supported yet for " + graph.family + ": eager: " + std::string(what), "use fused");
}

// gelu_new and gelu_pytorch_tanh compute the same; which of them it is says the class of the activation's
// module.
bool written_out(const ModelGraph& graph, const Operator& op) {
  const std::vector<ModuleId>& children = graph.module(op.module).children;
  return std::any_of(children.begin(), children.end(),
                     [&](ModuleId child) { return graph.module(child).class_name == "NewGELUActivation"; });
}

// Attention with alibi has a constant behind q, k and v. That of Mpt takes them in sections of a row.
bool is_mpts_attention(const Operator& op) {
  return op.type == &k_attention && op.inputs.size() == 2 &&
         op.attributes.integer("packed") == k_packed_sections;
}

const OperatorType* eager_type(const ModelGraph& graph, const Operator& op) {
  if (op.type == &k_rms_norm) return &k_eager_rms_norm;
  if (op.type == &k_rope) return &k_eager_rope;
  if (op.type == &k_swiglu && op.inputs.size() == 2) return &k_eager_swiglu;
  if (op.type == &k_geglu) return &k_eager_geglu;
  if (op.type == &k_gelu && written_out(graph, op)) return &k_eager_gelu_new;
  if (op.type == &k_soft_cap) return &k_eager_soft_cap;
  if (op.type == &k_cross_entropy) return &k_eager_cross_entropy;
  if (is_mpts_attention(op)) return &k_eager_attention;
  return op.type;
}

Status check(const ModelGraph& graph, const Operator& op) {
  const std::size_t operands = op.attributes.integer("packed") != 0 ? 1 : 3;
  if (op.type == &k_attention && op.inputs.size() > operands && !is_mpts_attention(op))
    return refuse(graph, "its attention adds alibi to whole matrices of scores");
  if (op.type == &k_rope && op.attributes.integer("turned") != 0)
    return refuse(graph, "its queries and keys are turned in copies of the projection's output");
  if (op.type == &k_geglu && written_out(graph, op)) return refuse(graph, "gelu_new of a gate");
  return {};
}

// Cosines and sines for both halves of a head, in the dtype that they are multiplied in.
void widen_table(const ModelGraph& graph, Tensor& table) {
  if (table.attributes.integer("halves") == 2) return;
  table.shape[2] *= 2;
  table.dtype = graph.compute_dtype;
  table.attributes = with_both_halves(table.attributes);
}

// The mask that transformers makes once and hands to every layer (masking_utils.py, eager_mask).
TensorId causal_mask(ModelGraph& graph) {
  constexpr std::string_view label = "causal_mask";
  const auto known = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.label == label; });
  if (known != graph.tensors.end())
    return make_id<TensorId>(static_cast<std::size_t>(known - graph.tensors.begin()));
  const std::int64_t tokens = graph.sequence_length;
  graph.tensors.push_back({label,
                           {graph.micro_batch, 1, tokens, tokens},
                           DType::uint8,
                           TensorRole::constant,
                           false,
                           causal_mask_attributes()});
  return make_id<TensorId>(graph.tensors.size() - 1);
}

}  // namespace

Status use_eager_operators(ModelGraph& graph) {
  for (Operator& op : graph.operators) {
    SHARDLAB_CHECK_OK(check(graph, op));
    if (op.type == &k_rope) widen_table(graph, graph.tensors[op.inputs[1].index()]);
    op.type = eager_type(graph, op);
    if (op.type == &k_eager_attention) op.inputs.push_back(causal_mask(graph));
  }
  return {};
}

Status check_eager_tables(const ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    if (op.type != &k_eager_rope || graph.tensor(op.inputs[0]).dtype == graph.tensor(op.inputs[1]).dtype)
      continue;
    return bad_input(
        "model.implementation",
        "not supported yet: eager: units that turn queries and keys in another dtype than precision.param",
        "use fused");
  }
  return {};
}

}  // namespace shardlab

#include "engine/model/eager.h"

#include <algorithm>
#include <utility>

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

// Attention with alibi has a constant behind q, k and v. That of Mpt takes them in sections of a row, that of
// Falcon in groups.
const OperatorType* attention_type(const Operator& op) {
  if (op.inputs.size() != 2) return &k_attention;
  return op.attributes.integer("packed") == k_packed_sections ? &k_eager_attention
                                                              : &k_eager_masked_attention;
}

const OperatorType* eager_type(const ModelGraph& graph, const Operator& op) {
  if (op.type == &k_rms_norm) return &k_eager_rms_norm;
  if (op.type == &k_rope) return op.attributes.integer("turned") != 0 ? &k_eager_packed_rope : &k_eager_rope;
  if (op.type == &k_swiglu && op.inputs.size() == 2) return &k_eager_swiglu;
  if (op.type == &k_geglu) return &k_eager_geglu;
  if (op.type == &k_gelu && written_out(graph, op)) return &k_eager_gelu_new;
  if (op.type == &k_soft_cap) return &k_eager_soft_cap;
  if (op.type == &k_cross_entropy) return &k_eager_cross_entropy;
  if (op.type == &k_attention) return attention_type(op);
  return op.type;
}

Status check(const ModelGraph& graph, const Operator& op) {
  if (op.type == &k_attention && op.inputs.size() == 4)
    return refuse(graph, "biases of separate queries, keys and values");
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

// Alibi of Falcon becomes a matrix for each head, in the dtype that scores are computed in.
void widen_alibi(const ModelGraph& graph, Tensor& alibi) {
  if (alibi.shape.size() == 4) return;
  alibi.shape = {graph.micro_batch, alibi.shape[0], alibi.shape[1], alibi.shape[1]};
  alibi.dtype = graph.compute_dtype;
  alibi.attributes = with_whole_matrices(alibi.attributes);
}

// Falcon's keys and values are repeated for each query head, but for a head that all share.
bool repeats_keys(std::int64_t kv_heads) {
  return kv_heads > 1;
}

// What packed rope makes: all heads of q, of k, of v.
void widen_heads(ModelGraph& graph, const Operator& op) {
  const std::int64_t head_dim = op.attributes.integer("head_dim"), turned = op.attributes.integer("turned");
  const std::int64_t kv_heads = graph.tensor(op.inputs[0]).shape[2] / head_dim / (turned + 1);
  if (repeats_keys(kv_heads))
    graph.tensors[op.outputs[0].index()].shape[2] = 3 * kv_heads * (turned - 1) * head_dim;
}

// Attention behind it.
void take_sections(Operator& op) {
  Attributes attributes;
  for (const auto& [name, value] : op.attributes.values()) {
    if (name == "packed") {
      attributes.add(name, k_packed_sections);
    } else if (name == "kv_heads" && repeats_keys(op.attributes.integer("kv_heads"))) {
      attributes.add(name, op.attributes.number("heads"));
    } else {
      attributes.add(name, value);
    }
  }
  op.attributes = std::move(attributes);
}

}  // namespace

Status use_eager_operators(ModelGraph& graph) {
  for (Operator& op : graph.operators) {
    SHARDLAB_CHECK_OK(check(graph, op));
    if (op.type == &k_rope) widen_table(graph, graph.tensors[op.inputs[1].index()]);
    op.type = eager_type(graph, op);
    if (op.type == &k_eager_attention) op.inputs.push_back(causal_mask(graph));
    if (op.type == &k_eager_masked_attention) widen_alibi(graph, graph.tensors[op.inputs[1].index()]);
    if (op.type == &k_eager_packed_rope) widen_heads(graph, op);
    if (op.type == &k_attention && op.attributes.integer("packed") == k_packed_groups) take_sections(op);
  }
  return {};
}

Status check_eager_tables(const ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    const bool has_table =
        op.type == &k_eager_rope || op.type == &k_eager_packed_rope || op.type == &k_eager_masked_attention;
    if (!has_table || graph.tensor(op.inputs[0]).dtype == graph.tensor(op.inputs[1]).dtype) continue;
    return bad_input("model.implementation",
                     "not supported yet: eager: units that turn queries and keys, or add alibi to their "
                     "product, in another dtype than precision.param",
                     "use fused");
  }
  return {};
}

}  // namespace shardlab

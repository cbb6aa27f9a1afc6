#include "engine/model/operators/eager_forms.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/model/constants.h"
#include "engine/model/eager.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

Status refuse(const ModelGraph& graph, std::string_view what) {
  return no_eager_form(" for " + graph.family + ": eager: " + std::string(what));
}

// gelu_new and gelu_pytorch_tanh compute the same; which of them it is says the class of the activation's
// module.
bool written_out(const ModelGraph& graph, const Operator& op) {
  const std::vector<ModuleId>& children = graph.module(op.module).children;
  return std::any_of(children.begin(), children.end(),
                     [&](ModuleId child) { return graph.module(child).class_name == "NewGELUActivation"; });
}

// Cosines and sines for both halves of a head, in the dtype that they are multiplied in.
void widen_table(const ModelGraph& graph, Tensor& table) {
  if (has_both_halves(table.attributes)) return;
  table.shape[2] *= 2;
  table.dtype = graph.compute_dtype;
  table.attributes = with_both_halves(table.attributes);
}

// A mask that transformers makes once and hands to every layer of a kind (masking_utils.py), for each
// sequence or one for all.
TensorId shared_mask(ModelGraph& graph, std::string_view label, DType dtype, std::int64_t sequences,
                     Attributes attributes) {
  const auto known = std::find_if(graph.tensors.begin(), graph.tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.label == label; });
  if (known != graph.tensors.end())
    return make_id<TensorId>(static_cast<std::size_t>(known - graph.tensors.begin()));
  const std::int64_t tokens = graph.sequence_length;
  graph.tensors.push_back(
      {label, {sequences, 1, tokens, tokens}, dtype, TensorRole::constant, false, std::move(attributes)});
  return make_id<TensorId>(graph.tensors.size() - 1);
}

TensorId causal_mask(ModelGraph& graph) {
  return shared_mask(graph, "causal_mask", DType::uint8, graph.micro_batch, causal_mask_attributes());
}

// In the dtype of the embedded tokens.
TensorId added_mask(ModelGraph& graph, std::int64_t window) {
  return shared_mask(graph, window > 0 ? "added_sliding_mask" : "added_causal_mask", graph.compute_dtype,
                     graph.micro_batch, added_mask_attributes(window));
}

// As long as it is a view for each sequence it is stored once. Layers without a window may be handed one too.
TensorId seen_mask(ModelGraph& graph, std::int64_t window) {
  return shared_mask(graph, window < graph.sequence_length ? "sliding_mask" : "whole_mask", DType::uint8, 1,
                     seen_mask_attributes(window));
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
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim),
                     turned = op.attributes.get(attribute::k_turned);
  const std::int64_t kv_heads = graph.tensor(op.inputs[0]).shape[2] / head_dim / (turned + 1);
  if (repeats_keys(kv_heads))
    graph.tensors[op.outputs[0].index()].shape[2] = 3 * kv_heads * (turned - 1) * head_dim;
}

// Attention behind it.
void take_sections(Operator& op) {
  op.attributes.set(attribute::k_packed, Packing::sections);
  if (repeats_keys(op.attributes.get(attribute::k_kv_heads)))
    op.attributes.set(attribute::k_kv_heads, op.attributes.get(attribute::k_heads));
}

}  // namespace

bool is_handed_a_mask(const ModelGraph& graph, const Operator& op) {
  const std::int64_t window = op.attributes.get_or(attribute::k_window, 0);
  return window > 0 && window <= graph.sequence_length;
}

Status make_gelu_eager(ModelGraph& graph, Operator& op) {
  if (written_out(graph, op)) op.type = &k_eager_gelu_new;
  return {};
}

Status make_rope_eager(ModelGraph& graph, Operator& op) {
  widen_table(graph, graph.tensors[op.inputs[1].index()]);
  const bool packed = op.attributes.get_or(attribute::k_turned, 0) != 0;
  op.type = packed ? &k_eager_packed_rope : &k_eager_rope;
  if (packed) widen_heads(graph, op);
  return {};
}

void make_attention_stepped(ModelGraph& graph, Operator& op) {
  const bool capped = op.attributes.get_or(attribute::k_soft_cap, 0) > 0;
  op.type = capped ? &k_eager_capped_attention : &k_eager_stepped_attention;
  op.inputs.push_back(added_mask(graph, op.attributes.get_or(attribute::k_window, 0)));
}

Status make_attention_eager(ModelGraph& graph, Operator& op) {
  const Packing packing = op.attributes.get_or(attribute::k_packed, Packing::separate);
  const bool alibi = op.inputs.size() == (packing == Packing::separate ? 4 : 2);
  if (alibi && packing == Packing::separate)
    return refuse(graph, "biases of separate queries, keys and values");
  if (op.attributes.get_or(attribute::k_soft_cap, 0) > 0) {
    if (alibi || packing != Packing::separate)
      return refuse(graph, "a soft cap on scores with biases, or of queries, keys and values in one");
    make_attention_stepped(graph, op);
    return {};
  }
  if (is_handed_a_mask(graph, op)) {
    if (alibi || packing != Packing::separate)
      return refuse(graph, "a window with biases, or of queries, keys and values in one");
    op.type = &k_eager_windowed_attention;
    op.inputs.push_back(seen_mask(graph, op.attributes.get(attribute::k_window)));
    return {};
  }
  if (!alibi) {
    if (packing == Packing::groups) take_sections(op);
    return {};
  }
  if (packing == Packing::sections) {
    op.type = &k_eager_attention;
    op.inputs.push_back(causal_mask(graph));
  } else {
    op.type = &k_eager_masked_attention;
    widen_alibi(graph, graph.tensors[op.inputs[1].index()]);
  }
  return {};
}

}  // namespace shardlab

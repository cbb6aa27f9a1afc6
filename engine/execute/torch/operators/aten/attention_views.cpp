#include "engine/execute/torch/operators/aten/attention_views.h"

#include <cmath>

#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

at::Tensor by_heads(const at::Tensor& x, std::int64_t heads, std::int64_t dim) {
  return x.defined() ? x.view({x.size(0), x.size(1), heads, dim}) : x;
}

// [batch, sequence, heads, dim] to groups of heads.
at::Tensor grouped(const at::Tensor& heads, std::int64_t groups) {
  return heads.defined() ? heads.unflatten(2, {groups, heads.size(2) / groups}) : heads;
}

}  // namespace

AttentionSettings attention_settings(const Operator& op, std::span<const at::Tensor> inputs) {
  const Attributes& a = op.attributes;
  AttentionSettings settings{a.get(attribute::k_heads),
                             a.get(attribute::k_kv_heads),
                             a.get(attribute::k_head_dim),
                             a.get_or(attribute::k_scale, 0),
                             a.get_or(attribute::k_window, 0),
                             a.get_or(attribute::k_soft_cap, 0),
                             {}};
  if (settings.scale <= 0) settings.scale = 1 / std::sqrt(static_cast<double>(settings.head_dim));
  const std::size_t tensors = a.get_or(attribute::k_packed, Packing::separate) != Packing::separate ? 1 : 3;
  if (inputs.size() > tensors) settings.bias = inputs[tensors];
  return settings;
}

AttentionViews attention_views(const Operator& op, std::span<const at::Tensor> tensors) {
  const Attributes& a = op.attributes;
  const std::int64_t heads = a.get(attribute::k_heads), kv_heads = a.get(attribute::k_kv_heads),
                     dim = a.get(attribute::k_head_dim);
  const std::int64_t group = heads / kv_heads;
  const Packing packing = a.get_or(attribute::k_packed, Packing::separate);
  const at::Tensor& first = tensors[0];
  if (packing == Packing::separate)
    return {grouped(by_heads(first, heads, dim), kv_heads), by_heads(tensors[1], kv_heads, dim),
            by_heads(tensors[2], kv_heads, dim)};
  if (!first.defined()) return {};
  if (packing == Packing::groups) {
    const at::Tensor groups = first.view({first.size(0), first.size(1), kv_heads, group + 2, dim});
    return {groups.narrow(3, 0, group), groups.select(3, group), groups.select(3, group + 1)};
  }
  const at::Tensor rows = by_heads(first, heads + 2 * kv_heads, dim);
  return {grouped(rows.narrow(2, 0, heads), kv_heads), rows.narrow(2, heads, kv_heads),
          rows.narrow(2, heads + kv_heads, kv_heads)};
}

}  // namespace shardlab

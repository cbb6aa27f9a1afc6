#include "engine/execute/torch/operators/aten/attention_math.h"

#include <cmath>
#include <limits>

#include <ATen/ops/bmm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>

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

namespace {

// Queries [first, first + count) and the keys [from, from + keys) that one of them sees.
struct Block {
  std::int64_t first, count, from, keys;
};

// Keys or values as [batch * kv_heads, sequence, head_dim].
at::Tensor by_key_head(const at::Tensor& x) {
  return in_float(x).transpose(1, 2).flatten(0, 1).contiguous();
}

class Blocks {
 public:
  Blocks(const AttentionSettings& settings, const AttentionViews& in)
      : settings_(settings), in_(in), k_(by_key_head(in.k)), v_(by_key_head(in.v)) {}

  template <typename F>
  void for_each(F&& function) const {
    const std::int64_t sequence = in_.q.size(1);
    in_pieces(sequence, in_.q.size(0) * settings_.heads * sequence,
              [&](std::int64_t first, std::int64_t count) {
                const std::int64_t from =
                    settings_.window > 0 ? std::max<std::int64_t>(0, first + 1 - settings_.window) : 0;
                function(Block{first, count, from, first + count - from});
              });
  }

  // [batch, sequence, kv_heads, group, dim] to [batch * kv_heads, group * queries, dim] of the block.
  at::Tensor rows(const at::Tensor& heads, const Block& block) const {
    const at::Tensor part = in_float(heads.narrow(1, block.first, block.count)).permute({0, 2, 3, 1, 4});
    return part.reshape({k_.size(0), -1, settings_.head_dim});
  }
  // The way back, into the block's rows of `heads`.
  void write_rows(const at::Tensor& heads, const Block& block, const at::Tensor& rows) const {
    const at::Tensor part =
        rows.view({in_.q.size(0), settings_.kv_heads, -1, block.count, settings_.head_dim});
    heads.narrow(1, block.first, block.count).copy_(part.permute({0, 3, 1, 2, 4}));
  }

  at::Tensor keys(const Block& block) const { return k_.narrow(1, block.from, block.keys); }
  at::Tensor values(const Block& block) const { return v_.narrow(1, block.from, block.keys); }

  // [batch, kv_heads, group, queries, keys], before biases and masks.
  at::Tensor raw_scores(const at::Tensor& queries, const Block& block) const {
    at::Tensor scores = at::bmm(queries, keys(block).transpose(1, 2)).mul_(settings_.scale);
    if (settings_.soft_cap > 0) scores.div_(settings_.soft_cap).tanh_().mul_(settings_.soft_cap);
    return scores.view(
        {in_.q.size(0), settings_.kv_heads, settings_.queries_per_key(), block.count, block.keys});
  }

  at::Tensor masked(at::Tensor scores, const Block& block) const {
    if (settings_.bias.defined()) {
      const at::Tensor bias = settings_.bias.narrow(1, block.from, block.keys);
      scores = scores.add(bias.view({1, settings_.kv_heads, settings_.queries_per_key(), 1, block.keys}));
    }
    const std::int64_t diagonal = block.first - block.from;
    const at::Tensor all = at::ones({block.count, block.keys}, scores.options().dtype(at::kBool));
    at::Tensor hidden = all.triu(diagonal + 1);
    if (settings_.window > 0) hidden = hidden.logical_or(all.tril(diagonal - settings_.window));
    return scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  }

  // The block's part of a tensor [batch, heads, sequence], as [batch, kv_heads, group, queries].
  at::Tensor sums(const at::Tensor& log_sum_exp, const Block& block) const {
    return log_sum_exp.unflatten(1, {settings_.kv_heads, settings_.queries_per_key()})
        .narrow(3, block.first, block.count);
  }

  at::Tensor grouped(const at::Tensor& output) const { return output.view(in_.q.sizes()); }

 private:
  const AttentionSettings& settings_;
  const AttentionViews& in_;
  const at::Tensor k_, v_;
};

// Sums of the keys' and values' gradients over blocks, like by_key_head.
void write_key_gradient(const at::Tensor& gradient, const at::Tensor& sums) {
  if (gradient.defined())
    gradient.copy_(sums.unflatten(0, {gradient.size(0), gradient.size(2)}).transpose(1, 2));
}

// ds = p (dp - delta), and through the soft cap, whose slope is 1 - (score / cap)^2. As [batch * kv_heads,
// rows, keys].
at::Tensor score_gradient(const AttentionSettings& settings, const at::Tensor& probabilities,
                          at::Tensor slope, const at::Tensor& delta, const at::Tensor& raw) {
  slope.sub_(delta).mul_(probabilities);
  if (settings.soft_cap > 0)
    slope.mul_(raw.div(settings.soft_cap).square_().neg_().add_(1).view(slope.sizes()));
  return slope.mul_(settings.scale);
}

}  // namespace

void attention_math_forward(const AttentionSettings& settings, const AttentionViews& in,
                            const at::Tensor& output, const at::Tensor& log_sum_exp) {
  const Blocks blocks(settings, in);
  blocks.for_each([&](const Block& block) {
    const at::Tensor scores = blocks.masked(blocks.raw_scores(blocks.rows(in.q, block), block), block);
    const at::Tensor sums = blocks.sums(log_sum_exp, block);
    sums.copy_(at::logsumexp(scores, {-1}));
    const at::Tensor probabilities = scores.sub(sums.unsqueeze(-1)).exp_().flatten(2, 3).flatten(0, 1);
    blocks.write_rows(blocks.grouped(output), block, at::bmm(probabilities, blocks.values(block)));
  });
}

void attention_math_backward(const AttentionSettings& settings, const AttentionViews& in,
                             const at::Tensor& output, const at::Tensor& log_sum_exp,
                             const at::Tensor& d_output, const AttentionViews& gradients) {
  const Blocks blocks(settings, in);
  const at::Tensor dk = at::zeros_like(by_key_head(in.k)), dv = at::zeros_like(dk);
  blocks.for_each([&](const Block& block) {
    const at::Tensor queries = blocks.rows(in.q, block);
    const at::Tensor d_rows = blocks.rows(blocks.grouped(d_output), block);
    const at::Tensor delta = at::mul(d_rows, blocks.rows(blocks.grouped(output), block)).sum(-1, true);
    const at::Tensor raw = blocks.raw_scores(queries, block);
    const at::Tensor shift = blocks.sums(log_sum_exp, block).unsqueeze(-1);
    const at::Tensor probabilities = blocks.masked(raw, block).sub(shift).exp_().flatten(2, 3).flatten(0, 1);
    dv.narrow(1, block.from, block.keys).add_(at::bmm(probabilities.transpose(1, 2), d_rows));
    const at::Tensor slope = score_gradient(
        settings, probabilities, at::bmm(d_rows, blocks.values(block).transpose(1, 2)), delta, raw);
    dk.narrow(1, block.from, block.keys).add_(at::bmm(slope.transpose(1, 2), queries));
    if (gradients.q.defined()) blocks.write_rows(gradients.q, block, at::bmm(slope, blocks.keys(block)));
  });
  write_key_gradient(gradients.k, dk);
  write_key_gradient(gradients.v, dv);
}

}  // namespace shardlab

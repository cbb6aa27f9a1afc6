// Step by step as torch 2.11's _scaled_dot_product_attention_math (ATen/native/transformers/attention.cpp),
// and backward as autograd runs it.
#include <cmath>
#include <limits>

#include <ATen/ops/_softmax.h>
#include <ATen/ops/all.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isneginf.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tril.h>
#include <ATen/ops/where.h>

#include "engine/execute/torch/operators/dropped_probabilities.h"

namespace shardlab {
namespace {

struct Sizes {
  std::int64_t batch, sequence, heads, kv_heads, head_dim;
  double root;  // of the scale
  bool casts, copies;

  Sizes(const Operator& op, const at::Tensor& rows)
      : batch(rows.size(0)),
        sequence(rows.size(1)),
        heads(op.attributes.get(attribute::k_heads)),
        kv_heads(op.attributes.get(attribute::k_kv_heads)),
        head_dim(op.attributes.get(attribute::k_head_dim)),
        root(op.attributes.get_or(attribute::k_scale, 0)),
        casts(rows.scalar_type() != at::kFloat),
        copies(batch > 1 && heads > 1 && sequence > 1) {
    if (root <= 0) root = 1 / std::sqrt(static_cast<double>(head_dim));
    root = std::sqrt(root);
  }
  bool grouped() const { return kv_heads < heads; }
};

// Rows as [batch, heads, sequence, head_dim].
at::Tensor heads_of(const Sizes& s, const at::Tensor& rows, std::int64_t heads) {
  return rows.view({s.batch, s.sequence, heads, s.head_dim}).transpose(1, 2);
}

// What the formula reads: q, k and v in float32, the repeated keys.
struct Variables {
  at::Tensor q, k, v, repeated;
};

// A kept tensor, one matrix a head, as [batch, heads, ...].
at::Tensor by_head(const Sizes& s, const at::Tensor& kept) {
  return kept.unflatten(0, {s.batch, s.heads});
}

at::Tensor as_groups(const Sizes& s, const at::Tensor& heads) {
  return heads.unsqueeze(2).expand({s.batch, s.kv_heads, s.heads / s.kv_heads, s.sequence, s.head_dim});
}

at::Tensor in_float(const at::Tensor& x) {
  return x.to(at::kFloat);
}

// 0 at the pairs that causality leaves, else minus infinity.
at::Tensor causal_matrix(const Sizes& s, const at::Tensor& like) {
  at::Tensor all = at::ones({s.sequence, s.sequence}, like.options().dtype(at::kBool));
  const at::Tensor seen = at::tril(all);
  all.reset();
  const at::Tensor matrix = at::empty({s.sequence, s.sequence}, like.options().dtype(at::kFloat));
  return matrix.fill_(-std::numeric_limits<float>::infinity()).masked_fill_(seen, 0);
}

// The values that backward reads; before the product with v where matmul copies them.
void keep_values(const Sizes& s, const at::Tensor& kept, const at::Tensor& v) {
  if (!kept.defined()) return;
  if (s.grouped()) {
    kept.view({s.batch, s.kv_heads, s.heads / s.kv_heads, s.sequence, s.head_dim}).copy_(as_groups(s, v));
  } else {
    by_head(s, kept).copy_(v);
  }
}

// A scaled operand of the first product, through a tensor of its own where matmul copies it.
void keep_scaled(const Sizes& s, at::Tensor kept, const at::Tensor& x, at::Tensor first) {
  if (first.defined()) {
    multiply(x, s.root, first);
    kept.copy_(first);
  } else {
    multiply(x, s.root, std::move(kept));
  }
}

// Into the tensor of the probabilities.
void safe_softmax(at::Tensor scores, at::Tensor probabilities) {
  const at::Tensor made = at::_softmax(scores, -1, false);
  const at::Tensor hidden = at::isneginf(scores);
  const at::Tensor rows = at::all(hidden, -1, true);
  probabilities.copy_(made).masked_fill_(rows, 0);
}

at::Tensor float_values(const Sizes& s, const at::Tensor& kept, const at::Tensor& rows) {
  const at::Tensor v = heads_of(s, rows, s.kv_heads);
  if (!s.casts) return v;
  if (s.grouped() || s.copies) return in_float(v);
  by_head(s, kept).copy_(v);
  return by_head(s, kept);
}

// q and k scaled, multiplied, and softmax of that; the variables live until the product with v.
Variables fill_probabilities(const Sizes& s, const KeptExtras& kept, std::span<const at::Tensor> inputs) {
  Variables held;
  held.q = in_float(heads_of(s, inputs[0], s.heads));
  held.k = in_float(heads_of(s, inputs[1], s.kv_heads));
  held.v = float_values(s, kept.find("value"), inputs[2]);
  at::Tensor query = kept.find("query"), key = kept.find("key");
  at::Tensor scaled = s.copies ? at::empty_like(held.q) : at::Tensor();
  const at::Tensor matrix = causal_matrix(s, inputs[0]);
  if (s.grouped()) {
    held.repeated = as_groups(s, held.k).contiguous().flatten(1, 2);
    keep_values(s, kept.find("value"), held.v);
  }
  const at::Tensor turned = (s.grouped() ? held.repeated : held.k).transpose(2, 3);
  at::Tensor turned_first = !s.grouped() && s.copies ? at::empty_like(turned) : at::Tensor();
  keep_scaled(s, by_head(s, key), turned, turned_first);
  keep_scaled(s, by_head(s, query), held.q, scaled);
  at::Tensor scores = at::bmm(query, key);
  turned_first.reset();
  scores = by_head(s, scores);
  scores.add_(matrix);
  safe_softmax(std::move(scores), kept.find("probabilities"));
  held.q = scaled.defined() ? scaled : held.q;
  return held;
}

void forward(const ForwardArguments& arguments) {
  const Sizes s(arguments.op, arguments.inputs[0]);
  const KeptExtras kept(arguments);
  const Variables held = fill_probabilities(s, kept, arguments.inputs);
  drop_into_kept(arguments, kept, kept.find("probabilities"));
  const at::Tensor probabilities = read_by_product(kept);
  at::Tensor second;
  if (s.casts) second = probabilities.to(arguments.inputs[0].scalar_type());
  at::Tensor value = kept.find("value");
  if (!s.grouped() && s.copies) keep_values(s, value, held.v);
  if (!value.defined()) value = held.v.flatten(0, 1);
  at::Tensor attended = by_head(s, at::bmm(probabilities.flatten(0, 1), value));
  const at::Tensor narrow = attended.to(arguments.outputs[0].scalar_type());
  arguments.outputs[0].view({s.batch, s.sequence, s.heads, s.head_dim}).copy_(narrow.transpose(1, 2));
}

// The output's gradient in float32, one matrix a head.
at::Tensor matrices_of(const Sizes& s, const at::Tensor& rows) {
  const at::Tensor wide = in_float(heads_of(s, rows, s.heads));
  return wide.reshape({s.batch * s.heads, s.sequence, s.head_dim});
}

// Gradients for all query heads, a matrix each; that of k turned.
struct HeadGradients {
  at::Tensor q, k, v;

  HeadGradients(const BackwardArguments& arguments, const Sizes& s) {
    const KeptExtras kept(arguments);
    const at::Tensor probabilities = kept.find("probabilities");
    at::Tensor value = kept.find("value"), slope;
    if (!value.defined()) value = heads_of(s, arguments.saved_inputs[2], s.kv_heads).flatten(0, 1);
    {
      const at::Tensor dy = matrices_of(s, arguments.output_gradients[0]);
      v = at::bmm(read_by_product(kept).flatten(0, 1).transpose(1, 2), dy);
      slope = at::bmm(dy, value.transpose(1, 2));
    }
    kept.give("dropped");
    kept.give("value");
    slope = through_dropout(arguments, kept, std::move(slope));
    slope = softmax_backward(slope.view(probabilities.sizes()), probabilities, at::kFloat).flatten(0, 1);
    kept.give("probabilities");
    k = at::bmm(kept.find("query").transpose(1, 2), slope);
    q = at::bmm(slope, kept.find("key").transpose(1, 2));
  }
};

// Adds up what the query heads of a group gave: [batch, heads, sequence, head_dim].
at::Tensor summed(const Sizes& s, at::Tensor heads) {
  if (!s.grouped()) return heads;
  return at::sum(heads.unflatten(1, {s.kv_heads, s.heads / s.kv_heads}), {2});
}

void give_rows(const BackwardArguments& arguments, const Sizes& s, std::size_t input, at::Tensor heads) {
  if (!arguments.wants(input)) return;
  heads_of(s, arguments.input_gradient(input), heads.size(1)).copy_(heads);
}

void backward(const BackwardArguments& arguments) {
  const Sizes s(arguments.op, arguments.output_gradients[0]);
  const at::ScalarType dtype = arguments.output_gradients[0].scalar_type();
  HeadGradients of(arguments, s);
  of.k = by_head(s, at::mul(of.k, s.root)).transpose(2, 3);
  of.v = summed(s, by_head(s, of.v));
  of.k = summed(s, of.k);
  of.q = by_head(s, at::mul(of.q, s.root));
  of.v = of.v.to(dtype);
  of.k = of.k.to(dtype);
  of.q = of.q.to(dtype);
  give_rows(arguments, s, 2, std::move(of.v));
  give_rows(arguments, s, 1, std::move(of.k));
  give_rows(arguments, s, 0, std::move(of.q));
}

}  // namespace

extern const OperatorImplementation k_eager_math_attention_implementation{forward, backward};

}  // namespace shardlab

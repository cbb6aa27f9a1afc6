// Step by step as in transformers 5.23, modeling_llama.py and modeling_gemma2.py eager_attention_forward, and
// backward as autograd of torch 2.11 runs it: torch.matmul reshapes to one product a head, which copies where
// batch and heads lie apart (LinearAlgebra.cpp, _matmul_impl).
#include <cmath>

#include <ATen/ops/_softmax.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>

#include "engine/execute/torch/operators/dropped_probabilities.h"
#include "engine/execute/torch/operators/products.h"

namespace shardlab {
namespace {

struct Sizes {
  std::int64_t batch, sequence, heads, kv_heads, head_dim;
  double scale, cap;  // a cap of 0: none
  bool packed;        // q, k and v are one input

  Sizes(const Operator& op, const at::Tensor& rows)
      : batch(rows.size(0)),
        sequence(rows.size(1)),
        heads(op.attributes.get(attribute::k_heads)),
        kv_heads(op.attributes.get(attribute::k_kv_heads)),
        head_dim(op.attributes.get(attribute::k_head_dim)),
        scale(op.attributes.get_or(attribute::k_scale, 0)),
        cap(op.attributes.get_or(attribute::k_soft_cap, 0)),
        packed(op.attributes.get_or(attribute::k_packed, Packing::separate) != Packing::separate) {
    if (scale <= 0) scale = 1 / std::sqrt(static_cast<double>(head_dim));
  }
};

// Rows as [batch, heads, sequence, head_dim].
at::Tensor heads_of(const Sizes& s, const at::Tensor& rows, std::int64_t heads) {
  return rows.view({s.batch, s.sequence, heads, s.head_dim}).transpose(1, 2);
}

// Keys or values as every query head reads them.
at::Tensor repeated(const Sizes& s, const at::Tensor& rows) {
  const std::int64_t group = s.heads / s.kv_heads;
  const at::Tensor one = heads_of(s, rows, s.kv_heads).unsqueeze(2);
  const at::Tensor all = one.expand({s.batch, s.kv_heads, group, s.sequence, s.head_dim});
  return s.kv_heads == 1 ? all.squeeze(1) : group == 1 ? all.squeeze(2) : all;
}

// One matrix a head of what no copy was made of.
at::Tensor as_matrices(const at::Tensor& heads) {
  return heads.flatten(0, 1);
}

// The rows of q, k and v as they came; undefined where backward needs none.
struct Rows {
  at::Tensor q, k, v;

  Rows(const Sizes& s, std::span<const at::Tensor> inputs) {
    if (!s.packed) {
      q = inputs[0];
      k = inputs[1];
      v = inputs[2];
    } else if (inputs[0].defined()) {
      const std::int64_t queries = s.heads * s.head_dim, keys = s.kv_heads * s.head_dim;
      q = inputs[0].narrow(2, 0, queries);
      k = inputs[0].narrow(2, queries, keys);
      v = inputs[0].narrow(2, queries + keys, keys);
    }
  }
};

// What the products read, one matrix a head: the tensors that are kept, or views. k is turned.
struct Operands {
  at::Tensor q, k, v;

  Operands(const KeptExtras& kept, const Sizes& s, std::span<const at::Tensor> inputs)
      : q(kept.find("query")), k(kept.find("turned_key")), v(kept.find("value")) {
    const Rows rows(s, inputs);
    if (!q.defined()) q = as_matrices(heads_of(s, rows.q, s.heads));
    if (const at::Tensor unturned = kept.find("repeated_key"); unturned.defined())
      k = unturned.transpose(1, 2);
    if (!k.defined()) k = as_matrices(repeated(s, rows.k)).transpose(1, 2);
    if (!v.defined()) v = as_matrices(repeated(s, rows.v));
  }
};

void copy_to(const at::Tensor& kept, const at::Tensor& heads) {
  if (kept.defined()) kept.view(heads.sizes()).copy_(heads);
}

void copy_operands(const KeptExtras& kept, const Sizes& s, std::span<const at::Tensor> inputs) {
  const Rows rows(s, inputs);
  copy_to(kept.find("repeated_key"), repeated(s, rows.k));
  copy_to(kept.find("value"), repeated(s, rows.v));
  copy_to(kept.find("query"), heads_of(s, rows.q, s.heads));
  copy_to(kept.find("turned_key"), repeated(s, rows.k).transpose(2, 3));
}

// float16's kernel on a device writes float32.
void softmax_to_float(const at::Tensor& scores, at::Tensor wide) {
  if (scores.scalar_type() != at::kHalf) {
    at::_softmax_out(wide, scores.to(at::kFloat), -1, false);
  } else if (scores.is_cpu()) {
    at::_softmax_out(wide, wide.copy_(scores), -1, false);
  } else {
    at::_softmax_out(wide, scores, -1, true);
  }
}

// A processor's kernel would convert its operands first, to tensors of its own.
at::Tensor masked_in_float(const at::Tensor& scores, const at::Tensor& mask) {
  return scores.is_cpu() ? scores.to(at::kFloat).add_(mask) : at::add(scores, mask);
}

// Scores lie by turns in the place of what the product reads and in one more tensor.
void fill_probabilities(const ForwardArguments& arguments, const KeptExtras& kept, const Sizes& s,
                        const Operands& operands) {
  const at::Tensor &mask = arguments.inputs.back(), place = kept.find("probabilities");
  const at::Tensor probabilities = place.defined() ? place : kept.find("dropped");
  const bool casts = kept.find("wide_probabilities").defined(),
             in_float = casts && mask.scalar_type() != probabilities.scalar_type();
  at::Tensor more = at::empty_like(probabilities), tanh = kept.find("tanh"),
             wide = kept.find("wide_probabilities");
  const bool kept_first = casts && !in_float;
  at::Tensor first = kept_first ? probabilities : more, second = kept_first ? more : probabilities;
  more.reset();
  at::Tensor products = first.flatten(0, 1);
  batched_product(products, operands.q, operands.k);
  products.reset();
  multiply(first, s.scale, second);
  if (s.cap > 0) {
    divide(second, s.cap, first);
    at::tanh_out(tanh, first);
    multiply(tanh, s.cap, second);
  }
  if (in_float) {
    first.reset();
    at::_softmax_out(wide, masked_in_float(second, mask), -1, false);
  } else {
    at::add_out(first, second, mask);
    if (casts) {
      second.reset();
      softmax_to_float(first, wide);
    } else {
      at::_softmax_out(second, first, -1, false);
    }
  }
  if (!casts) {
    drop_into_kept(arguments, kept, probabilities);
  } else if (place.defined()) {
    probabilities.copy_(wide);
  } else {
    drop_into_kept(arguments, kept, wide.to(probabilities.scalar_type()));
  }
}

void forward(const ForwardArguments& arguments) {
  const Sizes s(arguments.op, arguments.inputs[0]);
  const KeptExtras kept(arguments);
  copy_operands(kept, s, arguments.inputs);
  const Operands operands(kept, s, arguments.inputs);
  fill_probabilities(arguments, kept, s, operands);
  const at::Tensor attended = batched_product(read_by_product(kept).flatten(0, 1), operands.v)
                                  .view({s.batch, s.heads, s.sequence, s.head_dim});
  arguments.outputs[0].view({s.batch, s.sequence, s.heads, s.head_dim}).copy_(attended.transpose(1, 2));
}

// From the gradient of the probabilities, a matrix a head, to that of the product of q and k.
at::Tensor backward_scores(const BackwardArguments& arguments, const Sizes& s, const KeptExtras& kept,
                           at::Tensor gradient) {
  const at::Tensor probabilities = kept.find("probabilities"), wide = kept.find("wide_probabilities");
  const at::ScalarType dtype = gradient.scalar_type();
  const ModelGraph& graph = arguments.graph;
  const bool in_float =
      graph.tensor(arguments.op.inputs.back()).dtype != graph.tensor(arguments.op.inputs[0]).dtype;
  gradient = gradient.unflatten(0, {s.batch, s.heads});
  if (wide.defined()) {
    gradient = gradient.to(at::kFloat);
    gradient =
        softmax_backward(std::move(gradient), wide, dtype == at::kHalf && !in_float ? at::kHalf : at::kFloat);
  } else {
    gradient = softmax_backward(std::move(gradient), probabilities, dtype);
  }
  kept.give(wide.defined() ? "wide_probabilities" : "probabilities");
  gradient = gradient.to(dtype);
  if (s.cap > 0) {
    gradient = at::mul(gradient, s.cap);
    gradient = at::tanh_backward(gradient, kept.find("tanh"));
    kept.give("tanh");
    gradient = at::div(gradient, s.cap);
  }
  return at::mul(gradient, s.scale).flatten(0, 1);
}

// Gradients of the operands, a matrix a head; that of k as its rows.
struct OperandGradients {
  at::Tensor q, k, v;

  OperandGradients(const BackwardArguments& arguments, const Sizes& s) {
    const KeptExtras kept(arguments);
    const Operands operands(kept, s, arguments.saved_inputs);
    at::Tensor of_probabilities;
    {
      const at::Tensor dy = heads_of(s, arguments.output_gradients[0], s.heads).reshape(operands.q.sizes());
      v = batched_product(read_by_product(kept).flatten(0, 1).transpose(1, 2), dy);
      of_probabilities = batched_product(dy, operands.v.transpose(1, 2));
    }
    kept.give("dropped");
    if (kept.find("wide_probabilities").defined()) kept.give("probabilities");
    kept.give("value");
    of_probabilities = through_dropout(arguments, kept, std::move(of_probabilities));
    const at::Tensor of_scores = backward_scores(arguments, s, kept, std::move(of_probabilities));
    k = batched_product(operands.q.transpose(1, 2), of_scores).transpose(1, 2);
    q = batched_product(of_scores, operands.k.transpose(1, 2));
  }
};

// Adds up what the query heads of a group gave.
void give_rows(const BackwardArguments& arguments, const Sizes& s, std::size_t input, at::Tensor matrices) {
  if (!arguments.wants(input)) return;
  const std::int64_t heads = input == 0 ? s.heads : s.kv_heads;
  const at::Tensor rows = heads_of(s, arguments.input_gradient(input), heads);
  at::Tensor by_head = matrices.view({s.batch, heads, s.heads / heads, s.sequence, s.head_dim});
  matrices.reset();
  by_head = heads == s.heads ? by_head.squeeze(2) : at::sum(by_head, {2});
  rows.copy_(by_head);
}

// A matrix a head as rows by token.
at::Tensor by_token(const Sizes& s, at::Tensor matrices) {
  return matrices.unflatten(0, {s.batch, -1}).transpose(1, 2).flatten(2, 3);
}

void give_sections(const BackwardArguments& arguments, const Sizes& s, OperandGradients gradients) {
  if (!arguments.wants(0)) return;
  gradients.v = by_token(s, std::move(gradients.v));
  gradients.k = by_token(s, std::move(gradients.k));
  gradients.q = by_token(s, std::move(gradients.q));
  at::Tensor all = arguments.input_gradient(0);
  at::cat_out(all, {gradients.q, gradients.k, gradients.v}, 2);
}

void backward(const BackwardArguments& arguments) {
  const Sizes s(arguments.op, arguments.output_gradients[0]);
  OperandGradients gradients(arguments, s);
  if (s.packed) return give_sections(arguments, s, std::move(gradients));
  give_rows(arguments, s, 2, std::move(gradients.v));
  give_rows(arguments, s, 1, std::move(gradients.k));
  give_rows(arguments, s, 0, std::move(gradients.q));
}

}  // namespace

extern const OperatorImplementation k_eager_capped_attention_implementation{forward, backward};
extern const OperatorImplementation k_eager_stepped_attention_implementation{forward, backward};

}  // namespace shardlab

// Step by step as Megatron core 0.12, dot_product_attention.py, with causality and softmax apart; products of
// one sequence at a time, where Megatron's are of all, because here sequences lie before tokens.
#include <limits>

#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/attention_math.h"
#include "engine/execute/torch/operators/dropped_probabilities.h"
#include "engine/execute/torch/operators/products.h"

namespace shardlab {
namespace {

// q, k and v as they came, [batch, sequence, heads, head_dim]; k and v undefined where backward reads others.
struct Rows {
  at::Tensor q, k, v;

  Rows(const Operator& op, std::span<const at::Tensor> tensors) {
    AttentionViews views = attention_views(op, tensors);
    if (views.q.defined()) q = views.q.flatten(2, 3);
    k = std::move(views.k);
    v = std::move(views.v);
  }
};

// What the products read: kept repeated keys and values, where there are such.
struct Operands : Rows {
  template <typename Arguments>
  Operands(const Arguments& arguments, std::span<const at::Tensor> tensors) : Rows(arguments.op, tensors) {
    const KeptExtras kept(arguments);
    const at::Tensor repeated = kept.find("repeated_key");
    if (!repeated.defined()) return;
    k = repeated;
    v = kept.find("repeated_value");
  }
};

void repeat_into(const at::Tensor& kept, const at::Tensor& rows) {
  if (kept.defined()) kept.unflatten(2, {rows.size(2), kept.size(2) / rows.size(2)}).copy_(rows.unsqueeze(3));
}

// A sequence's rows, one matrix a head.
at::Tensor heads_of(const at::Tensor& rows, std::int64_t sequence) {
  return rows[sequence].transpose(0, 1);
}

// One matrix a sequence and head.
at::Tensor empty_matrices(const at::Tensor& q, std::int64_t columns) {
  return at::empty({q.size(0), q.size(2), q.size(1), columns}, q.options());
}

// 1 at the pairs of a query and a key that it does not see.
at::Tensor hidden_pairs(std::int64_t sequence, std::int64_t window, const at::Tensor& like) {
  at::Tensor pairs = at::ones({sequence, sequence}, like.options().dtype(at::kBool)).tril_();
  if (window > 0) pairs.triu_(1 - window);
  return pairs.logical_not_();
}

void fill_probabilities(const AttentionSettings& settings, at::Tensor scores, at::Tensor probabilities) {
  const at::Tensor hidden = hidden_pairs(scores.size(2), settings.window, scores);
  scores.mul_(settings.scale).masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  at::_softmax_out(probabilities, scores, -1, false);
}

void forward(const ForwardArguments& arguments) {
  const AttentionSettings settings = attention_settings(arguments.op, arguments.inputs);
  const KeptExtras kept(arguments);
  const Rows came(arguments.op, arguments.inputs);
  repeat_into(kept.find("repeated_key"), came.k);
  repeat_into(kept.find("repeated_value"), came.v);
  const Operands in(arguments, arguments.inputs);
  const at::Tensor scores = empty_matrices(in.q, in.q.size(1)), probabilities = kept.find("probabilities");
  for (std::int64_t i = 0; i < in.q.size(0); ++i) {
    at::Tensor product = scores[i];
    batched_product(product, heads_of(in.q, i), heads_of(in.k, i).transpose(1, 2));
  }
  fill_probabilities(settings, scores, probabilities);
  drop_into_kept(arguments, kept, probabilities);
  const at::Tensor attended = empty_matrices(in.q, settings.head_dim);
  for (std::int64_t i = 0; i < in.q.size(0); ++i) {
    at::Tensor product = attended[i];
    batched_product(product, read_by_product(kept)[i], heads_of(in.v, i));
  }
  arguments.outputs[0].view(in.q.sizes()).copy_(attended.transpose(1, 2));
}

// Gradients for all query heads, a matrix for each sequence and head.
struct HeadGradients {
  at::Tensor q, k, v;

  HeadGradients(const BackwardArguments& arguments, const Operands& in, double scale) {
    const KeptExtras kept(arguments);
    const at::Tensor probabilities = kept.find("probabilities");
    const at::Tensor dy = arguments.output_gradients[0].view(in.q.sizes());
    const std::int64_t batch = in.q.size(0), width = in.q.size(3);
    v = empty_matrices(in.q, width);
    at::Tensor of_scores = at::empty_like(probabilities);
    for (std::int64_t i = 0; i < batch; ++i) {
      at::Tensor of_v = v[i], of_probabilities = of_scores[i];
      batched_product(of_v, read_by_product(kept)[i].transpose(1, 2), heads_of(dy, i));
      batched_product(of_probabilities, heads_of(dy, i), heads_of(in.v, i).transpose(1, 2));
    }
    kept.give("dropped");
    kept.give("repeated_value");
    of_scores = through_dropout(arguments, kept, std::move(of_scores));
    at::_softmax_backward_data_out(of_scores, of_scores, probabilities, -1, probabilities.scalar_type());
    kept.give("probabilities");
    of_scores.mul_(scale);
    k = empty_matrices(in.q, width);
    q = empty_matrices(in.q, width);
    for (std::int64_t i = 0; i < batch; ++i) {
      at::Tensor of_k = k[i], of_q = q[i];
      batched_product(of_k, of_scores[i].transpose(1, 2), heads_of(in.q, i));
      batched_product(of_q, of_scores[i], heads_of(in.k, i));
    }
  }
};

// Adds up what the query heads of a group gave.
void give(const at::Tensor& rows, at::Tensor matrices) {
  if (!rows.defined()) return;
  at::Tensor to = rows.transpose(1, 2);
  const std::int64_t heads = to.size(1), group = matrices.size(1) / heads;
  if (group == 1) {
    to.copy_(matrices);
  } else {
    at::sum_out(to, matrices.unflatten(1, {heads, group}), {2});
  }
}

// Where the gradients of q, k and v go; undefined where none is wanted.
Rows gradient_rows(const BackwardArguments& arguments) {
  std::vector<at::Tensor> gradients;
  for (std::size_t input = 0; input < arguments.op.inputs.size(); ++input)
    gradients.push_back(arguments.wants(input) ? arguments.input_gradient(input) : at::Tensor());
  return {arguments.op, gradients};
}

void backward(const BackwardArguments& arguments) {
  const double scale = attention_settings(arguments.op, arguments.saved_inputs).scale;
  const Operands in(arguments, arguments.saved_inputs);
  HeadGradients of(arguments, in, scale);
  const Rows to = gradient_rows(arguments);
  give(to.v, std::move(of.v));
  give(to.k, std::move(of.k));
  give(to.q, std::move(of.q));
}

}  // namespace

extern const OperatorImplementation k_unfused_attention_implementation{forward, backward};

}  // namespace shardlab

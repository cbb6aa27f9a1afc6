// Attention that computes step by step, as the modules of transformers do.
#include <cmath>
#include <limits>

#include <ATen/ops/_softmax.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/mul.h>

#include "engine/execute/torch/operators/eager_attention.h"
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/implementation_list.h"
#include "engine/execute/torch/operators/products.h"

namespace shardlab {

// Step by step as in transformers 5.23, modeling_mpt.py MptAttention, and backward as autograd of torch 2.11
// runs it: torch.matmul reshapes to one product a head, which copies where batch and heads lie apart
// (LinearAlgebra.cpp, _matmul_impl); softmax and its mask in float32; the three gradients are put together.

namespace {

struct Sizes {
  std::int64_t batch, sequence, heads, head_dim;
  double scale;

  Sizes(const Operator& op, const at::Tensor& packed)
      : batch(packed.size(0)),
        sequence(packed.size(1)),
        heads(op.attributes.get(attribute::k_heads)),
        head_dim(op.attributes.get(attribute::k_head_dim)),
        scale(op.attributes.get_or(attribute::k_scale, 0)) {
    if (scale <= 0) scale = 1 / std::sqrt(static_cast<double>(head_dim));
  }
};

// Part `which` of q, k and v as [batch, heads, sequence, head_dim].
at::Tensor heads_of(const Sizes& s, const at::Tensor& packed, std::int64_t which) {
  return packed.view({s.batch, s.sequence, 3, s.heads, s.head_dim}).select(2, which).transpose(1, 2);
}

// What the products read: q, k turned, v, one matrix a head; the tensors that are kept, or views.
struct Operands {
  at::Tensor q, k, v;

  Operands(const KeptExtras& kept, const Sizes& s, const at::Tensor& packed)
      : q(kept.find("query")), k(kept.find("key")), v(kept.find("value")) {
    if (q.defined()) return;
    q = heads_of(s, packed, 0).flatten(0, 1);
    k = heads_of(s, packed, 1).transpose(2, 3).flatten(0, 1);
    v = heads_of(s, packed, 2).flatten(0, 1);
  }
};

void copy_to(const at::Tensor& kept, const at::Tensor& heads) {
  if (kept.defined()) kept.view(heads.sizes()).copy_(heads);
}

// The constant has a byte an element, as torch.bool.
at::Tensor as_mask(const at::Tensor& constant) {
  return constant.view(at::kBool);
}

// Into float32, by one kernel on a device; a processor's would convert its operand first, to a tensor of its
// own.
void add_bias(const at::Tensor& scores, const at::Tensor& bias, at::Tensor sum) {
  if (scores.is_cpu()) {
    sum.copy_(scores).add_(bias);
  } else {
    at::add_out(sum, scores, bias);
  }
}

double lowest(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return std::numeric_limits<c10::BFloat16>::lowest();
  if (dtype == at::kHalf) return std::numeric_limits<c10::Half>::lowest();
  return std::numeric_limits<float>::lowest();
}

void eager_attention_forward(const ForwardArguments& arguments) {
  const at::Tensor& packed = arguments.inputs[0];
  const Sizes s(arguments.op, packed);
  const KeptExtras kept(arguments);
  copy_to(kept.find("query"), heads_of(s, packed, 0));
  copy_to(kept.find("key"), heads_of(s, packed, 1).transpose(2, 3));
  const Operands operands(kept, s, packed);
  const at::Tensor probabilities = kept.find("probabilities");
  const bool casts = probabilities.scalar_type() != at::kFloat;
  at::Tensor wide = casts ? kept.find("wide_probabilities") : probabilities,
             products = probabilities.flatten(0, 1);
  batched_product(products, operands.q, operands.k);
  add_bias(at::mul(probabilities, s.scale), arguments.inputs[1].unsqueeze(1), wide);
  const at::Tensor hidden = at::masked_fill(wide, as_mask(arguments.inputs[2]), lowest(packed.scalar_type()));
  at::_softmax_out(wide, hidden, -1, false);
  if (casts) probabilities.copy_(wide);
  copy_to(kept.find("value"), heads_of(s, packed, 2));
  const at::Tensor attended =
      batched_product(products, operands.v).view({s.batch, s.heads, s.sequence, s.head_dim});
  arguments.outputs[0].view({s.batch, s.sequence, s.heads, s.head_dim}).copy_(attended.transpose(1, 2));
}

// From the gradient of the probabilities, a matrix a head, to that of the product of q and k.
at::Tensor backward_scores(const BackwardArguments& arguments, const Sizes& s, const KeptExtras& kept,
                           at::Tensor gradient) {
  const at::Tensor probabilities = kept.find("probabilities");
  const bool casts = probabilities.scalar_type() != at::kFloat;
  const at::Tensor wide = casts ? kept.find("wide_probabilities") : probabilities;
  gradient = gradient.unflatten(0, {s.batch, s.heads}).to(at::kFloat);
  gradient = softmax_backward(std::move(gradient), wide, at::kFloat);
  kept.give(casts ? "wide_probabilities" : "probabilities");
  gradient = at::masked_fill(gradient, as_mask(arguments.saved_inputs[2]), 0);
  gradient = gradient.to(probabilities.scalar_type());
  return at::mul(gradient, s.scale).flatten(0, 1);
}

// Turns a matrix for each head into rows again.
at::Tensor as_rows(const Sizes& s, const at::Tensor& heads) {
  return heads.unflatten(0, {s.batch, s.heads}).transpose(1, 2).reshape({s.batch, s.sequence, -1});
}

void eager_attention_backward(const BackwardArguments& arguments) {
  at::Tensor gradient = arguments.input_gradients[0];
  if (!gradient.defined()) return;
  const Sizes s(arguments.op, gradient);
  const KeptExtras kept(arguments);
  const Operands operands(kept, s, arguments.saved_inputs[0]);
  at::Tensor of_scores, of_v;
  {
    at::Tensor of_probabilities;
    {
      const at::Tensor dy = arguments.output_gradients[0].view({s.batch, s.sequence, s.heads, s.head_dim});
      const at::Tensor by_head = dy.transpose(1, 2).reshape({s.batch * s.heads, s.sequence, s.head_dim});
      of_probabilities = batched_product(by_head, operands.v.transpose(1, 2));
      of_v = batched_product(kept.find("probabilities").flatten(0, 1).transpose(1, 2), by_head);
    }
    if (kept.find("wide_probabilities").defined()) kept.give("probabilities");
    kept.give("value");
    of_scores = backward_scores(arguments, s, kept, std::move(of_probabilities));
  }
  at::Tensor of_q = batched_product(of_scores, operands.k.transpose(1, 2));
  const at::Tensor of_k = batched_product(operands.q.transpose(1, 2), of_scores).transpose(1, 2);
  of_scores.reset();
  of_v = as_rows(s, of_v);
  of_q = as_rows(s, of_q);
  at::cat_out(gradient, {of_q, as_rows(s, of_k), of_v}, -1);
}

}  // namespace

extern const OperatorImplementation k_eager_attention_implementation{eager_attention_forward,
                                                                     eager_attention_backward};

// The kernel of attention with biases by key, and its gradient as that of views of one tensor.

namespace {

void eager_masked_attention_forward(const ForwardArguments& arguments) {
  const auto inputs = with_biases_by_key(arguments.inputs);
  k_attention_implementation.forward(
      {arguments.op, arguments.graph, inputs, arguments.parameters, arguments.outputs, arguments.extras});
}

void eager_masked_attention_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  {
    const auto inputs = with_biases_by_key(arguments.saved_inputs);
    k_attention_implementation.backward({arguments.op, arguments.graph, arguments.output_gradients,
                                         arguments.seed, inputs, arguments.saved_outputs,
                                         arguments.parameters, arguments.extras, arguments.input_gradients,
                                         arguments.parameter_gradients});
  }
  add_gradients_of_views(arguments.op, arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_eager_masked_attention_implementation{eager_masked_attention_forward,
                                                                            eager_masked_attention_backward};

}  // namespace shardlab

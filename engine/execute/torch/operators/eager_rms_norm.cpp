// Step by step as in transformers 5.23, modeling_llama.py and modeling_gemma.py, and backward as autograd of
// torch 2.11 runs it (FunctionsManual.cpp: pow_backward, mean_backward; derivatives.yaml: rsqrt, mul).
#include <ATen/ops/add.h>
#include <ATen/ops/div.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

bool is_gemma(const Operator& op) {
  return op.attributes.get_or(attribute::k_offset, 0) != 0;
}

at::Tensor as_normed_rows(const at::Tensor& tensor, const at::Tensor& weight) {
  return tensor.view({tensor.numel() / weight.numel(), weight.numel()});
}

void scale_rows(const at::Tensor& normed, const at::Tensor& weight, at::Tensor y) {
  at::mul_out(y, weight, normed);
}

void forward_gemma(const KeptExtras& kept, const at::Tensor& normed, const at::Tensor& weight, at::Tensor y) {
  at::Tensor scale = kept.place("scale", weight.sizes(), normed.options());
  add_number(weight.to(at::kFloat), 1, scale);
  if (y.scalar_type() == at::kFloat) {
    at::mul_out(y, normed, scale);
  } else {
    y.copy_(at::mul(normed, scale));
  }
}

void forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor x = as_normed_rows(arguments.inputs[0], weight),
                   y = as_normed_rows(arguments.outputs[0], weight);
  const bool casts = x.scalar_type() != at::kFloat;
  const at::TensorOptions wide_options = x.options().dtype(at::kFloat);
  const at::Tensor wide = casts ? kept.place("wide", x.sizes(), wide_options).copy_(x) : x;
  at::Tensor reciprocal;
  {
    const at::Tensor variance = at::mean(at::pow(wide, 2), {-1}, true);
    const at::Tensor shifted = at::add(variance, arguments.op.attributes.get(attribute::k_epsilon));
    reciprocal = kept.place("reciprocal_deviation", variance.sizes(), wide_options);
    at::rsqrt_out(reciprocal, shifted);
  }
  if (is_gemma(arguments.op) || !casts) {
    at::Tensor normed = kept.place("normed", x.sizes(), wide_options);
    at::mul_out(normed, wide, reciprocal);
    is_gemma(arguments.op) ? forward_gemma(kept, normed, weight, y) : scale_rows(normed, weight, y);
    return;
  }
  const at::Tensor normed = at::mul(wide, reciprocal);
  scale_rows(kept.place("normed", x.sizes(), x.options()).copy_(normed), weight, y);
}

// From the gradient of wide * reciprocal to that of x, both of its parts.
void backward_input(const BackwardArguments& arguments, const KeptExtras& kept, at::Tensor dnormed,
                    const at::Tensor& wide) {
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor reciprocal = kept.find("reciprocal_deviation").view({wide.size(0), 1});
  const bool casts = arguments.graph.tensor(arguments.op.inputs[0]).dtype != DType::float32;
  at::Tensor first = casts ? at::empty_like(wide) : as_normed_rows(arguments.input_gradient(0), weight);
  at::mul_out(first, dnormed, reciprocal);
  at::Tensor of_shifted;
  {
    const at::Tensor of_reciprocal = at::sum(at::mul(dnormed, wide), {-1}, true);
    dnormed.reset();
    of_shifted = at::mul(at::mul(of_reciprocal, -0.5), at::pow(reciprocal, 3));
  }
  {
    const at::Tensor of_square = at::div(of_shifted.expand(wide.sizes()), wide.size(1));
    of_shifted.reset();
    const at::Tensor power = at::pow(wide, 1), slope = at::mul(power, 2);
    first.add_(at::mul(of_square, slope));
  }
  if (casts) as_normed_rows(arguments.input_gradient(0), weight).copy_(first);
}

// The gradient of normed, in the dtype in which it was multiplied; that of the weight on the way.
at::Tensor backward_scale(const BackwardArguments& arguments, const KeptExtras& kept, at::Tensor dy) {
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor scale = is_gemma(arguments.op) ? kept.find("scale") : weight;
  const ParameterGradient& gradient = arguments.parameter_gradients[0];
  at::Tensor dnormed;
  if (arguments.wants(0)) dnormed = at::mul(dy, scale);
  if (gradient.gradient.defined()) {
    at::Tensor dweight = at::sum(at::mul(dy, as_normed_rows(kept.find("normed"), weight)), {0});
    give_gradient(gradient, dweight.to(weight.scalar_type()));
  }
  return dnormed;
}

void backward(const BackwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor& weight = arguments.parameters[0];
  const bool gemma = is_gemma(arguments.op);
  at::Tensor dy = as_normed_rows(arguments.output_gradients[0], weight);
  if (gemma) dy = dy.to(at::kFloat);
  at::Tensor dnormed = backward_scale(arguments, kept, dy);
  dy.reset();
  if (!arguments.wants(0)) return;
  dnormed = dnormed.to(at::kFloat);
  const at::Tensor wide = kept.find("wide");
  backward_input(arguments, kept, std::move(dnormed),
                 as_normed_rows(wide.defined() ? wide : arguments.saved_inputs[0], weight));
}

}  // namespace

extern const OperatorImplementation k_eager_rms_norm_implementation{forward, backward};

}  // namespace shardlab

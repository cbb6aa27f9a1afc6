// Backward adds up the rows of equal tokens in float32 before they are rounded. The rows of one token are
// summed into a table of the tokens that occur, at most as many as positions, and that one is added to the
// gradient: no second table of the vocabulary's size is made. Workspace: that table, and some int64 a
// position.
#include <ATen/ops/cumsum.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/embedding_attributes.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor& table = arguments.parameters[0];
  at::Tensor y = as_rows(arguments.outputs[0]);
  at::index_select_out(y, table, 0, arguments.inputs[0].view(-1));
  const float scale = embedding_scale(arguments.op, table.scalar_type());
  if (scale != 1) y.mul_(scale);
}

// Which of the tokens that occur stands at each position, numbered in order of their ids; and their ids, 0
// beyond the last.
struct Occurring {
  at::Tensor number;  // [positions]
  at::Tensor token;   // [positions, or the vocabulary if that is smaller]
};

Occurring occurring_tokens(const at::Tensor& tokens, std::int64_t vocabulary) {
  const auto [sorted, order] = at::sort(tokens, /*stable=*/true, 0, /*descending=*/false);
  const std::int64_t count = tokens.numel();
  at::Tensor begins = at::zeros_like(sorted);  // 1 where another token begins
  begins.narrow(0, 1, count - 1).copy_(sorted.narrow(0, 1, count - 1).ne(sorted.narrow(0, 0, count - 1)));
  const at::Tensor numbers = at::cumsum(begins, 0);
  Occurring occurring{at::empty_like(tokens), at::zeros({std::min(count, vocabulary)}, tokens.options())};
  occurring.number.scatter_(0, order, numbers);
  occurring.token.scatter_(0, numbers, sorted);
  return occurring;
}

void backward(const BackwardArguments& arguments) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!gradient.defined()) return;
  if (!accumulate) gradient.zero_();
  const at::Tensor tokens = arguments.saved_inputs[0].view(-1);
  const Occurring occurring = occurring_tokens(tokens, gradient.size(0));
  const at::Tensor dy = widened_on_host(as_rows(arguments.output_gradients[0]));
  at::Tensor sums = at::embedding_dense_backward(dy, occurring.number, occurring.token.numel(),
                                                 /*padding_idx=*/-1, /*scale_grad_by_freq=*/false);
  const float scale = embedding_scale(arguments.op, gradient.scalar_type());
  if (scale != 1) sums.mul_(scale);
  const std::int64_t padding = embedding_padding(arguments.op);
  if (padding >= 0) sums.masked_fill_(occurring.token.eq(padding).unsqueeze(1), 0);
  // Rows beyond the last number are zeros and go to token 0: every row receives at most one that is not.
  gradient.index_add_(0, occurring.token, sums.to(gradient.scalar_type()));
}

}  // namespace

extern const OperatorImplementation k_device_embedding{forward, backward};

}  // namespace shardlab

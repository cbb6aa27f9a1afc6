// Step by step as in transformers 5.23, modeling_llama.py and modeling_phi.py, and backward as autograd of
// torch 2.11 runs it: the gradient of a slice is a tensor of zeros with the slice in it (FunctionsManual.cpp,
// slice_backward).
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/zeros_like.h>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {
namespace {

struct Table {
  at::Tensor cosine, sine;  // [positions, 1, turned]
  std::int64_t turned;

  Table(const at::Tensor& table, const at::Tensor& x) : turned(table.size(2)) {
    TORCH_CHECK(x.size(1) <= table.size(1), "the rotary table has ", table.size(1),
                " positions, the sequence ", x.size(1));
    cosine = table.select(0, 0).narrow(0, 0, x.size(1)).unsqueeze(1);
    sine = table.select(0, 1).narrow(0, 0, x.size(1)).unsqueeze(1);
  }
};

at::Tensor as_heads(const Operator& op, const at::Tensor& x) {
  return x.view({x.size(0), x.size(1), -1, op.attributes.integer("head_dim")});
}

at::Tensor rotate_half(const at::Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return at::cat({at::neg(x.narrow(-1, half, half)), x.narrow(-1, 0, half)}, -1);
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_heads(arguments.op, arguments.inputs[0]);
  at::Tensor y = as_heads(arguments.op, arguments.outputs[0]);
  const Table table(arguments.inputs[1], x);
  const at::Tensor part = x.narrow(-1, 0, table.turned);
  const std::int64_t rest = x.size(-1) - table.turned;
  at::Tensor straight = at::mul(part, table.cosine), crossed = at::mul(rotate_half(part), table.sine);
  if (rest == 0) {
    at::add_out(y, straight, crossed);
    return;
  }
  const at::Tensor turned = at::add(straight, crossed);
  straight.reset();
  crossed.reset();
  at::cat_out(y, {turned, x.narrow(-1, table.turned, rest)}, -1);
}

// Writes the gradient of the part that is turned.
void backward_part(const at::Tensor& dy, const Table& table, at::Tensor dx) {
  const std::int64_t half = table.turned / 2;
  {
    at::Tensor rotated = at::mul(dy, table.sine);
    {
      const at::Tensor second = at::neg(rotated.narrow(-1, 0, half));
      dx.zero_();
      dx.narrow(-1, half, half).copy_(second);
    }
    const at::Tensor first = at::zeros_like(dx);
    first.narrow(-1, 0, half).copy_(rotated.narrow(-1, half, half));
    rotated.reset();
    dx.add_(first);
  }
  dx.add_(at::mul(dy, table.cosine));
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dy = as_heads(arguments.op, arguments.output_gradients[0]);
  const at::Tensor dx = as_heads(arguments.op, arguments.input_gradients[0]);
  const Table table(arguments.saved_inputs[1], dy);
  const std::int64_t rest = dy.size(-1) - table.turned;
  if (rest == 0) return backward_part(dy, table, dx);
  const at::Tensor dy_part = dy.narrow(-1, 0, table.turned);
  at::Tensor part = at::empty(dy_part.sizes(), dy.options());
  backward_part(dy_part, table, part);
  dx.zero_();
  dx.narrow(-1, table.turned, rest).copy_(dy.narrow(-1, table.turned, rest));
  const at::Tensor whole = at::zeros_like(dx);
  whole.narrow(-1, 0, table.turned).copy_(part);
  part.reset();
  dx.add_(whole);
}

}  // namespace

extern const OperatorImplementation k_eager_rope_implementation{"eager_rope", forward, backward};

}  // namespace shardlab

// Step by step as in transformers 5.23, modeling_llama.py and modeling_phi.py, and backward as autograd of
// torch 2.11 runs it.
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/eager_turn_parts.h"

namespace shardlab {
namespace {

at::Tensor as_heads(const Operator& op, const at::Tensor& x) {
  return x.view({x.size(0), x.size(1), -1, op.attributes.get(attribute::k_head_dim)});
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_heads(arguments.op, arguments.inputs[0]);
  at::Tensor y = as_heads(arguments.op, arguments.outputs[0]);
  const TurnTable table(arguments.inputs[1], x);
  const std::int64_t rest = x.size(-1) - table.turned;
  if (rest == 0) return turn_into(x, table, y);
  const at::Tensor part = x.narrow(-1, 0, table.turned);
  at::Tensor straight = at::mul(part, table.cosine), crossed = at::mul(rotate_half(part), table.sine);
  const at::Tensor turned = at::add(straight, crossed);
  straight.reset();
  crossed.reset();
  at::cat_out(y, {turned, x.narrow(-1, table.turned, rest)}, -1);
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const at::Tensor dy = as_heads(arguments.op, arguments.output_gradients[0]);
  const at::Tensor dx = as_heads(arguments.op, arguments.input_gradients[0]);
  const TurnTable table(arguments.saved_inputs[1], dy);
  const std::int64_t rest = dy.size(-1) - table.turned;
  if (rest == 0) return turn_back_into(dy, table, dx);
  const at::Tensor dy_part = dy.narrow(-1, 0, table.turned);
  at::Tensor part = at::empty(dy_part.sizes(), dy.options());
  turn_back_into(dy_part, table, part);
  dx.zero_();
  dx.narrow(-1, table.turned, rest).copy_(dy.narrow(-1, table.turned, rest));
  const at::Tensor whole = at::zeros_like(dx);
  whole.narrow(-1, 0, table.turned).copy_(part);
  part.reset();
  dx.add_(whole);
}

}  // namespace

extern const OperatorImplementation k_eager_rope_implementation{forward, backward};

}  // namespace shardlab

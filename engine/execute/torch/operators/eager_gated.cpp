// The activation, then the product, each a kernel of torch.
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

bool is_silu(const Operator& op) {
  return op.type == &k_eager_swiglu;
}

c10::string_view form_of(const Operator& op) {
  return op.attributes.get_or(attribute::k_tanh, false) ? "tanh" : "none";
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor& gate = arguments.inputs[0];
  at::Tensor activated = KeptExtras(arguments).place("activated", gate.sizes(), gate.options());
  is_silu(arguments.op) ? at::silu_out(activated, gate)
                        : at::gelu_out(activated, gate, form_of(arguments.op));
  at::Tensor y = arguments.outputs[0];
  at::mul_out(y, activated, arguments.inputs[1]);
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor& dy = arguments.output_gradients[0];
  at::Tensor dgate = arguments.input_gradients[0], dup = arguments.input_gradients[1], dactivated;
  if (dgate.defined()) dactivated = at::mul(dy, arguments.saved_inputs[1]);
  if (dup.defined()) at::mul_out(dup, dy, KeptExtras(arguments).find("activated"));
  if (!dgate.defined()) return;
  const at::Tensor& gate = arguments.saved_inputs[0];
  is_silu(arguments.op) ? at::silu_backward_out(dgate, dactivated, gate)
                        : at::gelu_backward_out(dgate, dactivated, gate, form_of(arguments.op));
}

}  // namespace

extern const OperatorImplementation k_eager_geglu_implementation{forward, backward};
extern const OperatorImplementation k_eager_swiglu_implementation{forward, backward};

}  // namespace shardlab

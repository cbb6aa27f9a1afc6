// Activations of one input, and gates of two halves.
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

namespace {

// An activation has one input, which backward reads again.
OperatorDescription describe_activation(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_inputs = 0b1;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

// y = gelu(x): x Phi(x), or with the attribute `tanh` its approximation (gelu_new, gelu_pytorch_tanh; arXiv
// 1606.08415).
//
// Keeps x.

extern const OperatorType k_gelu{
    .name = "gelu",
    .describe = describe_activation,
    .probe = &k_row_probe,
    .make_eager = make_gelu_eager,
};

// y = silu(x): x times its logistic function. Keeps x.

extern const OperatorType k_silu{
    .name = "silu",
    .describe = describe_activation,
    .probe = &k_inner_row_probe,
};

// y = gelu(gate) * up, fused: keeps gate, and up for gate's gradient, only. Attribute `tanh` as of gelu.

namespace {

OperatorDescription describe_geglu(const ModelGraph& graph, const Operator& op) {
  const Tensor& gate = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_inputs = gate.requires_grad ? 0b11 : 0b01;
  description.forward.push_back(memory_work(gate.bytes() * 3));
  description.backward.push_back(memory_work(gate.bytes() * 5));
  return description;
}

}  // namespace

extern const OperatorType k_geglu{
    .name = "geglu",
    .describe = describe_geglu,
    .probe = &k_gated_probe,
};

// y = silu(gate) * up, fused: keeps gate, and up for gate's gradient, only. In eager form silu and a product,
// but in experts, where transformers computes the same. With one input its rows hold the gate, then the up
// (experts, whose two projections are one product).

namespace {

OperatorDescription describe_swiglu(const ModelGraph& graph, const Operator& op) {
  const Tensor& gate = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  if (op.inputs.size() == 1) {
    description.saved_inputs = 0b1;
    description.forward.push_back(memory_work(gate.bytes() + gate.bytes() / 2));
    description.backward.push_back(memory_work(gate.bytes() * 2 + gate.bytes() / 2));
    return description;
  }
  description.saved_inputs = gate.requires_grad ? 0b11 : 0b01;
  description.forward.push_back(memory_work(gate.bytes() * 3));
  description.backward.push_back(memory_work(gate.bytes() * 5));
  return description;
}

}  // namespace

extern const OperatorType k_swiglu{
    .name = "swiglu",
    .describe = describe_swiglu,
    .probe = &k_gated_probe,
    .common = true,
};

// y = cap * tanh(x / cap) (Gemma 2's logits). Attribute: cap.
//
// Keeps y, from which the slope follows: 1 - (y / cap)^2.

namespace {

OperatorDescription describe_soft_cap(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_outputs = 0b1;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_soft_cap{
    .name = "soft_cap",
    .describe = describe_soft_cap,
    .probe = &k_cap_probe,
    .eager_type = &k_eager_soft_cap,
};

}  // namespace shardlab

// y = silu(gate) * up, fused: keeps gate, and up for gate's gradient, only. With one input its rows hold the
// gate, then the up (experts, whose two projections are one product).
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
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

// That of experts computes the same in transformers.
Status make_swiglu_eager(ModelGraph&, Operator& op) {
  if (op.inputs.size() == 2) op.type = &k_eager_swiglu;
  return {};
}

}  // namespace

extern const OperatorType k_swiglu{
    .name = "swiglu",
    .describe = describe_swiglu,
    .probe = &k_gated_probe,
    .common = true,
    .make_eager = make_swiglu_eager,
};

}  // namespace shardlab

// y = gelu(gate) * up, fused: keeps gate, and up for gate's gradient, only. Attribute `tanh` as of gelu.
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
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
    .make_eager = make_geglu_eager,
};

}  // namespace shardlab

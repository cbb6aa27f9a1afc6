// y = gelu(x): x Phi(x), or with the attribute `tanh` its approximation (gelu_new, gelu_pytorch_tanh; arXiv
// 1606.08415).
//
// Keeps x.
#include "engine/model/operators/eager_forms.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_gelu(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_inputs = 0b1;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_gelu{
    .name = "gelu",
    .describe = describe_gelu,
    .probe = &k_row_probe,
    .make_eager = make_gelu_eager,
};

}  // namespace shardlab

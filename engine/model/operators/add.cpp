// y = a + b (residual). Keeps nothing; both inputs receive dy itself, without a copy.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_add(const ModelGraph& graph, const Operator& op) {
  OperatorDescription description;
  description.passed_gradients = 0b11;
  description.forward.push_back(memory_work(graph.tensor(op.outputs[0]).bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_add{
    .name = "add",
    .describe = describe_add,
    .probe = &k_sum_probe,
    .common = true,
};

}  // namespace shardlab

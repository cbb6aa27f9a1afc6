// y = a + b (residual). Keeps nothing; both inputs receive dy itself, without a copy.
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

extern const OperatorType k_add{"add", describe_add};

}  // namespace shardlab

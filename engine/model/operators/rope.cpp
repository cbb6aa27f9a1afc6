// Rotary position embedding of queries or keys [batch, sequence, heads * head_dim], halves convention (element i pairs with
// i + head_dim / 2, as in transformers' rotate_half). Inputs: x, table (constant, model/constants.h). Attribute: head_dim.
//
// Keeps nothing but the table; backward is the inverse rotation.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_rope(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  OperatorDescription description;
  description.saved_inputs = 0b10;
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_rope{"rope", describe_rope};

}  // namespace shardlab

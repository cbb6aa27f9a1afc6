// Rows of a table by token id. Inputs: tokens. Parameter: table [vocabulary, width]. Attribute: scale, which
// multiplies the rows where it is given (Gemma); padding, a token whose row receives no gradient from here
// (the padding_idx of torch's Embedding).
//
// Backward adds rows of dy into the table's gradient, which it first fills with zeros when nothing was
// accumulated before.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_embedding(const ModelGraph& graph, const Operator& op) {
  const Tensor& y = graph.tensor(op.outputs[0]);
  const Parameter& table = graph.parameter(op.parameters[0]);
  OperatorDescription description;
  description.saved_inputs = 1;
  // The order of the tokens and one row of sums.
  description.backward_workspace = bytes_of(element_count(graph.tensor(op.inputs[0]).shape), DType::int64) +
                                   bytes_of(y.shape.back(), DType::float32);
  description.forward.push_back(memory_work(y.bytes() * 2));
  description.backward.push_back(memory_work(y.bytes() * 3 + bytes_of(table.elements(), y.dtype)));
  return description;
}

}  // namespace

extern const OperatorType k_embedding{
    .name = "embedding",
    .describe = describe_embedding,
    .probe = &k_embedding_probe,
    .common = true,
};

}  // namespace shardlab

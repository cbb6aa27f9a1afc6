// Rows for experts: of x [batch, sequence, width] each row once for each of its k experts [batch, sequence,
// k], equal experts together, in order of position. Outputs: rows [assignments, width]; the place of each
// assignment (row, slot) among them, int64; the rows of each expert, int64 [experts]. No assignment is
// dropped and no row is padded, so sizes do not depend on how the load is spread.
//
// Keeps the places. Backward sums a row's copies.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_dispatch(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Tensor& rows = graph.tensor(op.outputs[0]);
  const Tensor& counts = graph.tensor(op.outputs[2]);
  OperatorDescription description;
  description.saved_outputs = 0b010;
  description.forward_workspace = counts.bytes();  // where the next row of each expert goes
  description.backward_workspace = bytes_of(x.shape.back(), DType::float32);  // one row of sums
  description.forward.push_back(memory_work(rows.bytes() * 2 + graph.tensor(op.outputs[1]).bytes()));
  description.backward.push_back(memory_work(rows.bytes() + x.bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_dispatch{
    .name = "dispatch",
    .describe = describe_dispatch,
    .expert_counts = 2,
};

}  // namespace shardlab

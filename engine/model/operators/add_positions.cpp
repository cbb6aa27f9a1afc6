// y[b, p] = x[b, p] + table[p]: learned positions. Parameter: table [positions, width], of which the first
// `sequence` rows are used.
//
// Keeps nothing; x receives dy itself. Backward sums dy over the batch into the table's gradient, whose other
// rows it fills with zeros when nothing was accumulated before.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_add_positions(const ModelGraph& graph, const Operator& op) {
  const Tensor& y = graph.tensor(op.outputs[0]);
  const Parameter& table = graph.parameter(op.parameters[0]);
  const Bytes used = bytes_of(y.shape[1] * y.shape[2], y.dtype);
  OperatorDescription description;
  description.passed_gradients = 0b1;
  description.forward.push_back(memory_work(y.bytes() * 2 + used));
  if (table.requires_grad) {
    description.backward.push_back(memory_work(y.bytes() + bytes_of(table.elements(), y.dtype)));
    description.backward_workspace = bytes_of(y.shape[2], DType::float32);  // one row of sums
  }
  return description;
}

}  // namespace

extern const OperatorType k_add_positions{.name = "add_positions", .describe = describe_add_positions};

}  // namespace shardlab

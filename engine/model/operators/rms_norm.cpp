// y = x / sqrt(mean(x^2) + epsilon) * w over the last dimension. Parameter: w [width]. Attribute: epsilon.
//
// Keeps x and one float32 reciprocal deviation a row.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_rms_norm(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(x.shape) / x.shape.back();
  OperatorDescription description;
  description.saved_inputs = 1;
  description.extras.push_back({"reciprocal_deviation", {rows}, DType::float32});
  if (graph.parameter(op.parameters[0]).requires_grad) {
    description.backward_workspace = bytes_of(x.shape.back(), DType::float32);  // sums of the weight's gradient
  }
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_rms_norm{"rms_norm", describe_rms_norm};

}  // namespace shardlab

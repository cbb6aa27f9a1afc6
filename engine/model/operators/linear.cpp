// y = x W^T (+ b). Parameters: weight [out, in], optional bias [out]. With the attribute `transposed` the
// weight is stored as [in, out] (GPT-2's Conv1D).
//
// Keeps x for the weight's gradient (the weight is a parameter, not counted). Backward writes dx = dy W and
// adds dy^T x into the weight's gradient.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_linear(const ModelGraph& graph, const Operator& op) {
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const Tensor& x = graph.tensor(op.inputs[0]);
  const bool transposed = op.attributes.get_or(attribute::k_transposed, false);
  const std::int64_t outputs = weight.shape[transposed ? 1 : 0];
  const std::int64_t inputs = weight.shape[transposed ? 0 : 1];
  const std::int64_t rows = element_count(x.shape) / inputs;

  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 1 : 0;
  description.forward.push_back(matmul_work(rows, outputs, inputs, x.dtype));
  if (x.requires_grad) description.backward.push_back(matmul_work(rows, inputs, outputs, x.dtype));
  if (weight.requires_grad) description.backward.push_back(matmul_work(outputs, inputs, rows, x.dtype));
  if (op.parameters.size() > 1 && graph.parameter(op.parameters[1]).requires_grad) {
    description.backward.push_back(memory_work(bytes_of(rows * outputs, x.dtype)));
    description.backward_workspace = bytes_of(outputs, DType::float32);  // sums of the bias' gradient
  }
  return description;
}

}  // namespace

extern const OperatorType k_linear{
    .name = "linear",
    .describe = describe_linear,
    .category = OperatorCategory::product,
    .probe = &k_product_probe,
    .common = true,
};

}  // namespace shardlab

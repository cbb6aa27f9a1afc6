// y = z + scale * x W^T: what a low-rank adapter adds to the layer it belongs to. Inputs: z [.., out], x [..,
// in]. Parameter: weight [out, in]. Attribute: scale.
//
// Keeps x for the weight's gradient. Backward passes dy on to z, writes dx = scale * dy W and adds scale *
// dy^T x into the weight's gradient.
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_linear_add(const ModelGraph& graph, const Operator& op) {
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const Tensor& x = graph.tensor(op.inputs[1]);
  const std::int64_t outputs = weight.shape[0], inputs = weight.shape[1];
  const std::int64_t rows = element_count(x.shape) / inputs;

  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 0b10 : 0;
  description.passed_gradients = 0b01;
  description.forward.push_back(
      memory_work(graph.tensor(op.inputs[0]).bytes() * 2));  // z into y, then added to
  description.forward.push_back(matmul_work(rows, outputs, inputs, x.dtype));
  if (x.requires_grad) description.backward.push_back(matmul_work(rows, inputs, outputs, x.dtype));
  if (weight.requires_grad) description.backward.push_back(matmul_work(outputs, inputs, rows, x.dtype));
  return description;
}

}  // namespace

extern const OperatorType k_linear_add{
    .name = "linear_add",
    .describe = describe_linear_add,
    .category = OperatorCategory::product,
    .probe = &k_added_product_probe,
};

}  // namespace shardlab

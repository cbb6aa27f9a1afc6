// linear_add as peft's layers compute it, step by step (0.21, tuners/lora/layer.py Linear.forward): result +
// lora_B(...) * scaling, a product, its multiple, their sum. Inputs, parameter and attributes of linear_add.
// With the attribute `cloned` the layer's result is copied first (tuners/lora/bnb.py Linear4bit.forward).
//
// Keeps x for the weight's gradient. Backward passes dy on to z; its multiple is a tensor of its own. At most
// three tensors like y are there at once: z or its copy, the multiple, and before y the product. Ours makes
// the product in y.
#include "engine/model/operators/cast_parameters.h"
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/weight_products.h"

namespace shardlab {
namespace {

EagerSteps addition_steps(Bytes y, bool cloned) {
  EagerSteps steps;
  if (cloned) {
    steps.make(y, y * 2);
    steps.give_inputs();
  }
  steps.take(y);         // the product
  steps.make(y, y * 2);  // its multiple
  steps.give(y);
  steps.results_follow();
  steps.kernel(y * 3);  // the sum
  return steps;
}

EagerSteps multiple_steps(Bytes y) {
  EagerSteps steps;
  steps.make(y, y * 2);
  steps.results_follow();
  return steps;
}

OperatorDescription describe_eager_linear_add(const ModelGraph& graph, const Operator& op) {
  const Parameter& weight = graph.parameter(op.parameters[0]);
  const Tensor& x = graph.tensor(op.inputs[1]);
  const Tensor& y = graph.tensor(op.outputs[0]);
  const std::int64_t outputs = weight.shape[0], inputs = weight.shape[1];
  const std::int64_t rows = element_count(x.shape) / inputs;

  OperatorDescription description;
  description.saved_inputs = weight.requires_grad ? 0b10 : 0;
  description.passed_gradients = 0b01;
  describe_forward(description, addition_steps(y.bytes(), op.attributes.get_or(attribute::k_cloned, false)));
  description.forward_temporaries = y.bytes();
  describe_backward(description, multiple_steps(y.bytes()));
  add_weight_products(rows, outputs, inputs, x, weight, description);
  add_parameter_casts(graph, op, x, description);
  return description;
}

}  // namespace

extern const OperatorType k_eager_linear_add{
    .name = "eager_linear_add",
    .describe = describe_eager_linear_add,
    .category = OperatorCategory::product,
    .probe = &k_added_product_probe,
    .autocast = AutocastRule::lower,
    .casts_parameters = true,
};

}  // namespace shardlab

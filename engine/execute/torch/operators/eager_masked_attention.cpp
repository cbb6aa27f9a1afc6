// The kernel of attention with biases by key, and its gradient as that of views of one tensor.
#include "engine/execute/torch/operators/eager_masked_attention_parts.h"

#include "engine/execute/torch/operators/implementation_list.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const auto inputs = with_biases_by_key(arguments.inputs);
  k_attention_implementation.forward(
      {arguments.op, arguments.graph, inputs, arguments.parameters, arguments.outputs, arguments.extras});
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  {
    const auto inputs = with_biases_by_key(arguments.saved_inputs);
    k_attention_implementation.backward({arguments.op, arguments.graph, arguments.output_gradients,
                                         arguments.seed, inputs, arguments.saved_outputs,
                                         arguments.parameters, arguments.extras, arguments.input_gradients,
                                         arguments.parameter_gradients});
  }
  add_gradients_of_views(arguments.op, arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_eager_masked_attention_implementation{forward, backward};

}  // namespace shardlab

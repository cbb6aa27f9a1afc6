// eager_copied_attention around a kernel of attention. Private to execute/torch.
#pragma once

#include <array>

#include "engine/execute/torch/operators/eager_parts.h"

namespace shardlab {

template <const OperatorImplementation& kernel>
void copied_attention_forward(const ForwardArguments& arguments) {
  const std::array<at::Tensor, 1> kept{KeptExtras(arguments).find("by_head")};
  kernel.forward(
      {arguments.op, arguments.graph, arguments.inputs, arguments.parameters, kept, arguments.extras});
  arguments.outputs[0].copy_(kept[0]);
}

template <const OperatorImplementation& kernel>
void copied_attention_backward(const BackwardArguments& arguments) {
  const std::array<at::Tensor, 1> output{KeptExtras(arguments).find("by_head").clone()};
  kernel.backward({arguments.op, arguments.graph, arguments.output_gradients, arguments.seed,
                   arguments.saved_inputs, output, arguments.parameters, arguments.extras,
                   arguments.input_gradients, arguments.parameter_gradients});
}

}  // namespace shardlab

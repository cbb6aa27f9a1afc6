// Workspace: the scratch memory of attention_kernel.h for each thread.
#include "engine/execute/torch/kernels/attention_kernel.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

AttentionShape shape_of(const Operator& op, const at::Tensor& q) {
  return {q.size(0), q.size(1), op.attributes.integer("heads"), op.attributes.integer("kv_heads"),
          op.attributes.integer("head_dim")};
}

void forward(const ForwardArguments& arguments) {
  const AttentionShape shape = shape_of(arguments.op, arguments.inputs[0]);
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const AttentionForward<T> tensors{data_of<T>(arguments.inputs[0]), data_of<T>(arguments.inputs[1]),
                                      data_of<T>(arguments.inputs[2]), data_of<T>(arguments.outputs[0]),
                                      data_of<float>(arguments.extras[0])};
    for_parts_with_scratch(shape.batch * shape.heads, attention_forward_scratch<T>(shape),
                           [&](std::int64_t begin, std::int64_t end, char* scratch) {
                             attention_forward(shape, tensors, begin, end, scratch);
                           });
  });
}

void backward(const BackwardArguments& arguments) {
  const AttentionShape shape = shape_of(arguments.op, arguments.saved_inputs[0]);
  with_element_type(arguments.saved_inputs[0], [&](auto element) {
    using T = decltype(element);
    const AttentionBackward<T> tensors{
        data_of<T>(arguments.output_gradients[0]), data_of<T>(arguments.saved_inputs[0]),
        data_of<T>(arguments.saved_inputs[1]),     data_of<T>(arguments.saved_inputs[2]),
        data_of<T>(arguments.saved_outputs[0]),    data_of<float>(arguments.extras[0]),
        data_of<T>(arguments.input_gradients[0]),  data_of<T>(arguments.input_gradients[1]),
        data_of<T>(arguments.input_gradients[2])};
    for_parts_with_scratch(shape.batch * shape.kv_heads, attention_backward_scratch<T>(shape),
                           [&](std::int64_t begin, std::int64_t end, char* scratch) {
                             attention_backward(shape, tensors, begin, end, scratch);
                           });
  });
}

}  // namespace

extern const OperatorImplementation k_attention_implementation{"attention", forward, backward};

}  // namespace shardlab

// Workspace: none. Backward turns the other way.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

HeadLayout layout_of(const Operator& op, std::int64_t width, std::int64_t half) {
  const std::int64_t head_dim = op.attributes.get(attribute::k_head_dim), heads = width / head_dim;
  const std::int64_t turned = op.attributes.get_or(attribute::k_turned, 0),
                     passed = op.attributes.get_or(attribute::k_passed, 0);
  if (turned == 0) return {1, heads, 0, head_dim, half};
  return {heads / (turned + passed), turned, passed, head_dim, half};
}

// `table` [2, positions, half]: cosines, then sines. Position of a row: its place in the sequence.
void rotate(const Operator& op, const at::Tensor& x, const at::Tensor& table, float direction,
            const at::Tensor& y) {
  const std::int64_t sequence = x.size(1), width = width_of(x), half = table.size(2);
  const HeadLayout layout = layout_of(op, width, half);
  TORCH_CHECK(sequence <= table.size(1), "the rotary table has ", table.size(1), " positions, the sequence ",
              sequence);
  const float* cosine = data_of<float>(table);
  const float* sine = cosine + table.size(1) * half;
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    for_rows(rows_of(x), width, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().rope(data_of<T>(x) + begin * width, cosine, sine, begin, end - begin, sequence, layout,
                            direction, data_of<T>(y) + begin * width);
    });
  });
}

void forward(const ForwardArguments& arguments) {
  rotate(arguments.op, arguments.inputs[0], arguments.inputs[1], 1, arguments.outputs[0]);
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  rotate(arguments.op, arguments.output_gradients[0], arguments.saved_inputs[1], -1,
         arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_rope_implementation{forward, backward};

}  // namespace shardlab

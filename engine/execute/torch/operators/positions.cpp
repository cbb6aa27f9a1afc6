// What tells positions apart: learned rows, and rotation.
#include <cstring>

#include <ATen/ops/add.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Backward sums dy over the batch in float32 before it is rounded. Workspace: one float32 row a thread.

namespace {

void add_positions_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const at::Tensor& table = arguments.parameters[0];
  TORCH_CHECK(x.size(1) <= table.size(0), "the table has ", table.size(0), " positions, the sequence ",
              x.size(1));
  at::Tensor y = arguments.outputs[0];
  at::add_out(y, x, table.narrow(0, 0, x.size(1)));
}

// x receives the output's gradient itself.
void add_positions_backward(const BackwardArguments& arguments) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!gradient.defined()) return;
  const at::Tensor& dy = arguments.output_gradients[0];
  const std::int64_t batch = dy.size(0), sequence = dy.size(1), width = dy.size(2);
  with_element_type(gradient, [&](auto element) {
    using T = decltype(element);
    T* table = data_of<T>(gradient);
    if (!accumulate) {
      const std::int64_t unused = (gradient.size(0) - sequence) * width;
      std::memset(table + sequence * width, 0, static_cast<std::size_t>(unused) * sizeof(T));
    }
    const auto row_bytes = width * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(sequence, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      auto* sums = reinterpret_cast<float*>(scratch);
      for (std::int64_t position = begin; position < end; ++position) {
        std::fill_n(sums, width, 0.0f);
        for (std::int64_t b = 0; b < batch; ++b)
          row_kernels<T>().add_row(data_of<T>(dy) + (b * sequence + position) * width, width, sums);
        row_kernels<T>().store_row(sums, accumulate, width, table + position * width);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_add_positions_implementation{add_positions_forward,
                                                                   add_positions_backward};

// Workspace: none. Backward turns the other way.

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

void rope_forward(const ForwardArguments& arguments) {
  rotate(arguments.op, arguments.inputs[0], arguments.inputs[1], 1, arguments.outputs[0]);
}

void rope_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  rotate(arguments.op, arguments.output_gradients[0], arguments.saved_inputs[1], -1,
         arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_rope_implementation{rope_forward, rope_backward};

}  // namespace shardlab

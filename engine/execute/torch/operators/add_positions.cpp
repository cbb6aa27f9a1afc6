// Backward sums dy over the batch in float32 before it is rounded. Workspace: one float32 row a thread.
#include <ATen/ops/add.h>

#include <cstring>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const at::Tensor& table = arguments.parameters[0];
  TORCH_CHECK(x.size(1) <= table.size(0), "the table has ", table.size(0), " positions, the sequence ",
              x.size(1));
  at::Tensor y = arguments.outputs[0];
  at::add_out(y, x, table.narrow(0, 0, x.size(1)));
}

// x receives the output's gradient itself.
void backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_add_positions_implementation{forward, backward};

}  // namespace shardlab

// Sums in float32, in order of slots. Workspace: forward one float32 row a thread.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

template <typename T>
float value_of(const T* from) {
  float value = 0;
  row_kernels<T>().add_row(from, 1, &value);
  return value;
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor& y = arguments.outputs[0];
  const std::int64_t rows = rows_of(y), width = width_of(y), slots = width_of(arguments.inputs[1]);
  const auto* places = data_of<std::int64_t>(arguments.inputs[2]);
  with_element_type(y, [&](auto element) {
    using T = decltype(element);
    const T* results = data_of<T>(arguments.inputs[0]);
    const T* weights = data_of<T>(arguments.inputs[1]);
    const auto row_bytes = width * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(rows, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      auto* sums = reinterpret_cast<float*>(scratch);
      for (std::int64_t row = begin; row < end; ++row) {
        std::fill_n(sums, width, 0.0f);
        for (std::int64_t i = row * slots; i < (row + 1) * slots; ++i)
          row_kernels<T>().add_scaled_row(value_of(weights + i), results + places[i] * width, width, sums);
        row_kernels<T>().store_row(sums, false, width, data_of<T>(y) + row * width);
      }
    });
  });
}

// The gradient of a result is dy times its weight, that of a weight the product of dy and its result.
void backward(const BackwardArguments& arguments) {
  const at::Tensor& dy = arguments.output_gradients[0];
  const std::int64_t rows = rows_of(dy), width = width_of(dy), slots = width_of(arguments.saved_inputs[1]);
  const auto* places = data_of<std::int64_t>(arguments.saved_inputs[2]);
  with_element_type(dy, [&](auto element) {
    using T = decltype(element);
    const T* results = data_of<T>(arguments.saved_inputs[0]);
    const T* weights = data_of<T>(arguments.saved_inputs[1]);
    T* dresults = data_of<T>(arguments.input_gradients[0]);
    T* dweights = data_of<T>(arguments.input_gradients[1]);
    for_rows(rows, slots * width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin * slots; i < end * slots; ++i) {
        const T* from = data_of<T>(dy) + i / slots * width;
        if (dresults)
          row_kernels<T>().scale(value_of(weights + i), from, width, dresults + places[i] * width);
        if (!dweights) continue;
        float product = 0;
        row_kernels<T>().dot_rows(from, results + places[i] * width, 1, width, width, width, &product);
        row_kernels<T>().store_row(&product, false, 1, dweights + i);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_combine_implementation{forward, backward};

}  // namespace shardlab

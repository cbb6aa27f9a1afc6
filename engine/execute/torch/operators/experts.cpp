// Sending rows to experts and back.
#include <cstring>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Workspace: forward one int64 an expert, backward one float32 row a thread.

namespace {

void count_rows(const std::int64_t* experts, std::int64_t assignments, std::int64_t number,
                std::int64_t* counts) {
  std::fill_n(counts, number, std::int64_t{0});
  for (std::int64_t i = 0; i < assignments; ++i) {
    TORCH_CHECK_INDEX(experts[i] >= 0 && experts[i] < number, "expert ", experts[i], " of ", number);
    ++counts[experts[i]];
  }
}

// Places in order of position, the rows of an expert behind those of the ones before it.
void find_places(const std::int64_t* experts, std::int64_t assignments, std::int64_t number,
                 const std::int64_t* counts, std::int64_t* places) {
  const at::Tensor memory = at::empty({number}, at::TensorOptions(at::kLong));
  auto* next = data_of<std::int64_t>(memory);
  std::int64_t sum = 0;
  for (std::int64_t e = 0; e < number; ++e) {
    next[e] = sum;
    sum += counts[e];
  }
  for (std::int64_t i = 0; i < assignments; ++i) places[i] = next[experts[i]]++;
}

void dispatch_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const std::int64_t slots = width_of(arguments.inputs[1]), assignments = arguments.inputs[1].numel();
  const std::int64_t number = arguments.outputs[2].numel(), width = width_of(x);
  const auto* experts = data_of<std::int64_t>(arguments.inputs[1]);
  auto* places = data_of<std::int64_t>(arguments.outputs[1]);
  auto* counts = data_of<std::int64_t>(arguments.outputs[2]);
  count_rows(experts, assignments, number, counts);
  find_places(experts, assignments, number, counts, places);
  const std::int64_t bytes = width * x.element_size();
  const auto* from = static_cast<const char*>(x.data_ptr());
  auto* to = static_cast<char*>(arguments.outputs[0].data_ptr());
  for_rows(assignments, width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(to + places[i] * bytes, from + i / slots * bytes, static_cast<std::size_t>(bytes));
  });
}

void dispatch_backward(const BackwardArguments& arguments) {
  const at::Tensor& dx = arguments.input_gradients[0];
  if (!dx.defined()) return;
  const at::Tensor& saved = arguments.saved_outputs[1];
  const auto* places = data_of<std::int64_t>(saved);
  const std::int64_t rows = rows_of(dx), width = width_of(dx), slots = saved.numel() / rows;
  with_element_type(dx, [&](auto element) {
    using T = decltype(element);
    const T* dy = data_of<T>(arguments.output_gradients[0]);
    const auto row_bytes = width * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(rows, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      auto* sums = reinterpret_cast<float*>(scratch);
      for (std::int64_t row = begin; row < end; ++row) {
        std::fill_n(sums, width, 0.0f);
        for (std::int64_t slot = 0; slot < slots; ++slot)
          row_kernels<T>().add_row(dy + places[row * slots + slot] * width, width, sums);
        row_kernels<T>().store_row(sums, false, width, data_of<T>(dx) + row * width);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_dispatch_implementation{dispatch_forward, dispatch_backward};

// Sums in float32, in order of slots. Workspace: forward one float32 row a thread.

namespace {

template <typename T>
float value_of(const T* from) {
  float value = 0;
  row_kernels<T>().add_row(from, 1, &value);
  return value;
}

void combine_forward(const ForwardArguments& arguments) {
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
void combine_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_combine_implementation{combine_forward, combine_backward};

}  // namespace shardlab

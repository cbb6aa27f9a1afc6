// Workspace: one float32 row a thread. Of equal probabilities the expert with the lower number is taken.
#include <cmath>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

template <typename T>
void load_row(const T* row, std::int64_t width, float* values) {
  std::fill_n(values, width, 0.0f);
  row_kernels<T>().add_row(row, width, values);
}

// Moves the places of the k largest values to `places`, descending; the values become -infinity.
void take_largest(float* values, std::int64_t count, std::int64_t k, std::int64_t* places, float* taken) {
  for (std::int64_t slot = 0; slot < k; ++slot) {
    const std::int64_t place = std::max_element(values, values + count) - values;
    places[slot] = place;
    taken[slot] = values[place];
    values[place] = -std::numeric_limits<float>::infinity();
  }
}

constexpr std::int64_t k_most_slots = 64;

struct Sizes {
  std::int64_t rows, experts, slots;
  bool normalized;
};
Sizes sizes_of(const Operator& op, const ModelGraph& graph) {
  const Shape& logits = graph.tensor(op.inputs[0]).shape;
  const std::int64_t slots = graph.tensor(op.outputs[0]).shape.back();
  TORCH_CHECK(slots <= logits.back() && slots <= k_most_slots, "top_k of ", slots, " among ", logits.back());
  return {element_count(logits) / logits.back(), logits.back(), slots,
          op.attributes.get(attribute::k_normalized)};
}

template <typename T>
void forward_row(const Sizes& sizes, const T* logits, float* row, T* weights, std::int64_t* experts,
                 float* log_sum_exp) {
  float taken[k_most_slots];
  load_row(logits, sizes.experts, row);
  float whole = 0;
  row_kernels<float>().log_sum_exp(row, 1, sizes.experts, &whole);
  TORCH_CHECK(!std::isnan(whole), "the router's logits are not numbers");
  take_largest(row, sizes.experts, sizes.slots, experts, taken);
  float shift = whole;
  if (sizes.normalized) row_kernels<float>().log_sum_exp(taken, 1, sizes.slots, &shift);
  for (std::int64_t slot = 0; slot < sizes.slots; ++slot) taken[slot] = std::exp(taken[slot] - shift);
  row_kernels<T>().store_row(taken, false, sizes.slots, weights);
  if (log_sum_exp) *log_sum_exp = whole;
}

void forward(const ForwardArguments& arguments) {
  const Sizes sizes = sizes_of(arguments.op, arguments.graph);
  auto* experts = data_of<std::int64_t>(arguments.outputs[1]);
  float* log_sum_exp = arguments.extras.empty() ? nullptr : data_of<float>(arguments.extras[0]);
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* logits = data_of<T>(arguments.inputs[0]);
    T* weights = data_of<T>(arguments.outputs[0]);
    const auto row_bytes = sizes.experts * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(sizes.rows, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      for (std::int64_t row = begin; row < end; ++row) {
        forward_row(sizes, logits + row * sizes.experts, reinterpret_cast<float*>(scratch),
                    weights + row * sizes.slots, experts + row * sizes.slots,
                    log_sum_exp ? log_sum_exp + row : nullptr);
      }
    });
  });
}

// Normalized: a softmax over the chosen. Else of all: dz = p (dp - sum(p dp)), where dp is 0 but for the
// chosen.
template <typename T>
void backward_row(const Sizes& sizes, const T* dweights, const T* weights, const std::int64_t* experts,
                  const T* logits, const float* log_sum_exp, float* row, T* dlogits) {
  float w[k_most_slots], dw[k_most_slots];
  load_row(weights, sizes.slots, w);
  load_row(dweights, sizes.slots, dw);
  float sum = 0;
  for (std::int64_t slot = 0; slot < sizes.slots; ++slot) sum += w[slot] * dw[slot];
  std::fill_n(row, sizes.experts, 0.0f);
  if (!sizes.normalized) {
    load_row(logits, sizes.experts, row);
    for (std::int64_t e = 0; e < sizes.experts; ++e) row[e] = -std::exp(row[e] - *log_sum_exp) * sum;
    sum = 0;
  }
  for (std::int64_t slot = 0; slot < sizes.slots; ++slot) row[experts[slot]] += w[slot] * (dw[slot] - sum);
  row_kernels<T>().store_row(row, false, sizes.experts, dlogits);
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const Sizes sizes = sizes_of(arguments.op, arguments.graph);
  const auto* experts = data_of<std::int64_t>(arguments.saved_outputs[1]);
  const float* log_sum_exp = arguments.extras.empty() ? nullptr : data_of<float>(arguments.extras[0]);
  with_element_type(arguments.input_gradients[0], [&](auto element) {
    using T = decltype(element);
    const T* dweights = data_of<T>(arguments.output_gradients[0]);
    const T* weights = data_of<T>(arguments.saved_outputs[0]);
    const T* logits = data_of<T>(arguments.saved_inputs[0]);
    T* dlogits = data_of<T>(arguments.input_gradients[0]);
    const auto row_bytes = sizes.experts * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(sizes.rows, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      for (std::int64_t row = begin; row < end; ++row) {
        backward_row(sizes, dweights + row * sizes.slots, weights + row * sizes.slots,
                     experts + row * sizes.slots, logits ? logits + row * sizes.experts : nullptr,
                     log_sum_exp ? log_sum_exp + row : nullptr, reinterpret_cast<float*>(scratch),
                     dlogits + row * sizes.experts);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_top_k_implementation{forward, backward};

}  // namespace shardlab

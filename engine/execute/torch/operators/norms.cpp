// Norms over rows.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Workspace: backward sums the gradients of weight and bias in one float32 row of each a thread.

namespace {

at::Tensor bias_of(std::span<const at::Tensor> parameters) {
  return parameters.size() > 1 ? parameters[1] : at::Tensor();
}

void layer_norm_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const std::int64_t width = arguments.parameters[0].numel();
  const auto epsilon = static_cast<float>(arguments.op.attributes.get(attribute::k_epsilon));
  auto* mean = data_of<float>(arguments.extras[0]);
  auto* reciprocal = data_of<float>(arguments.extras[1]);
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    for_rows(x.numel() / width, width, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().layer_norm_forward(data_of<T>(x) + begin * width, data_of<T>(arguments.parameters[0]),
                                          data_of<T>(bias_of(arguments.parameters)), epsilon, end - begin,
                                          width, data_of<T>(arguments.outputs[0]) + begin * width,
                                          mean + begin, reciprocal + begin);
    });
  });
}

template <typename T>
void backward_rows(const BackwardArguments& arguments, std::int64_t begin, std::int64_t end, float* dw,
                   float* db) {
  const at::Tensor& x = arguments.saved_inputs[0];
  const std::int64_t width = arguments.parameters[0].numel(), offset = begin * width;
  T* dx = data_of<T>(arguments.input_gradients[0]);
  row_kernels<T>().layer_norm_backward(
      data_of<T>(arguments.output_gradients[0]) + offset, data_of<T>(x) + offset,
      data_of<T>(arguments.parameters[0]), data_of<float>(arguments.extras[0]) + begin,
      data_of<float>(arguments.extras[1]) + begin, end - begin, width, dx ? dx + offset : nullptr, dw, db);
}

void layer_norm_backward(const BackwardArguments& arguments) {
  const at::Tensor& x = arguments.saved_inputs[0];
  const std::int64_t width = arguments.parameters[0].numel(), rows = x.numel() / width;
  const auto& gradients = arguments.parameter_gradients;
  const ParameterGradient weight = gradients[0];
  const ParameterGradient bias = gradients.size() > 1 ? gradients[1] : ParameterGradient{};
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    if (weight.gradient.defined() && bias.gradient.defined()) {
      sum_rows_into({{weight.gradient, weight.accumulate}, {bias.gradient, bias.accumulate}}, rows,
                    [&](std::int64_t begin, std::int64_t end, float* sums) {
                      backward_rows<T>(arguments, begin, end, sums, sums + width);
                    });
    } else if (weight.gradient.defined()) {
      sum_rows_into(weight.gradient, weight.accumulate, rows,
                    [&](std::int64_t begin, std::int64_t end, float* sums) {
                      backward_rows<T>(arguments, begin, end, sums, nullptr);
                    });
    } else if (bias.gradient.defined()) {
      sum_rows_into(bias.gradient, bias.accumulate, rows,
                    [&](std::int64_t begin, std::int64_t end, float* sums) {
                      backward_rows<T>(arguments, begin, end, nullptr, sums);
                    });
    } else {
      for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
        backward_rows<T>(arguments, begin, end, nullptr, nullptr);
      });
    }
  });
}

}  // namespace

extern const OperatorImplementation k_layer_norm_implementation{layer_norm_forward, layer_norm_backward};

// Workspace: backward sums the weight's gradient in one float32 row a thread.

namespace {

float offset_of(const Operator& op) {
  return static_cast<float>(op.attributes.get_or(attribute::k_offset, 0));
}

void rms_norm_forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const std::int64_t width = arguments.parameters[0].numel();
  const auto epsilon = static_cast<float>(arguments.op.attributes.get(attribute::k_epsilon));
  const float offset = offset_of(arguments.op);
  auto* reciprocal = data_of<float>(arguments.extras[0]);
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    for_rows(x.numel() / width, width, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().rms_norm_forward(data_of<T>(x) + begin * width, data_of<T>(arguments.parameters[0]),
                                        offset, epsilon, end - begin, width,
                                        data_of<T>(arguments.outputs[0]) + begin * width, reciprocal + begin);
    });
  });
}

template <typename T>
void backward_rows(const BackwardArguments& arguments, std::int64_t begin, std::int64_t end, float* dw) {
  const std::int64_t width = arguments.parameters[0].numel(), offset = begin * width;
  T* dx = data_of<T>(arguments.input_gradients[0]);
  row_kernels<T>().rms_norm_backward(
      data_of<T>(arguments.output_gradients[0]) + offset, data_of<T>(arguments.saved_inputs[0]) + offset,
      data_of<T>(arguments.parameters[0]), offset_of(arguments.op),
      data_of<float>(arguments.extras[0]) + begin, end - begin, width, dx ? dx + offset : nullptr, dw);
}

void rms_norm_backward(const BackwardArguments& arguments) {
  const at::Tensor& x = arguments.saved_inputs[0];
  const std::int64_t width = arguments.parameters[0].numel(), rows = x.numel() / width;
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    if (weight.gradient.defined()) {
      sum_rows_into(weight.gradient, weight.accumulate, rows,
                    [&](std::int64_t begin, std::int64_t end, float* sums) {
                      backward_rows<T>(arguments, begin, end, sums);
                    });
    } else {
      for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
        backward_rows<T>(arguments, begin, end, nullptr);
      });
    }
  });
}

}  // namespace

extern const OperatorImplementation k_rms_norm_implementation{rms_norm_forward, rms_norm_backward};

}  // namespace shardlab

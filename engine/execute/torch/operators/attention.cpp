// Workspace: the scratch memory of attention_kernel.h for each thread.
#include <cmath>

#include "engine/execute/torch/kernels/attention_kernel.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

// Elements of a row at which q, k and v begin, when they share one.
struct PackedOffsets {
  std::int64_t k = 0, v = 0;
};

struct AttentionCall {
  AttentionShape shape;
  PackedOffsets offsets;
  bool packed = false;
};

// `inputs`: q, k, v or all of them in one; then the bias, if there is one.
AttentionCall call_of(const Operator& op, std::span<const at::Tensor> inputs) {
  const Attributes& a = op.attributes;
  const std::int64_t heads = a.get(attribute::k_heads), kv_heads = a.get(attribute::k_kv_heads),
                     dim = a.get(attribute::k_head_dim);
  const std::int64_t group = heads / kv_heads, row = width_of(inputs[0]);
  const Packing packing = a.get_or(attribute::k_packed, Packing::separate);
  AttentionCall call{
      {inputs[0].size(0), inputs[0].size(1), heads, kv_heads, dim, {}, {}}, {}, packing != Packing::separate};
  AttentionShape& shape = call.shape;
  if (packing == Packing::groups) {
    shape.q = {row, (group + 2) * dim, dim};
    shape.kv = {row, (group + 2) * dim, 0};
    call.offsets = {group * dim, (group + 1) * dim};
  } else {
    shape.q = {row, group * dim, dim};
    shape.kv = {packing == Packing::sections ? row : kv_heads * dim, dim, 0};
    call.offsets = {heads * dim, (heads + kv_heads) * dim};
  }
  const double scale = a.get_or(attribute::k_scale, 0);
  shape.scale = scale > 0 ? static_cast<float>(scale) : 1 / std::sqrt(static_cast<float>(dim));
  shape.window = a.get_or(attribute::k_window, 0);
  shape.soft_cap = static_cast<float>(a.get_or(attribute::k_soft_cap, 0));
  const std::size_t tensors = call.packed ? 1 : 3;
  if (inputs.size() > tensors) shape.bias = data_of<float>(inputs[tensors]);
  return call;
}

// The three operands, or their gradients: null where there is none.
template <typename T>
struct Operands {
  T *q, *k, *v;
};
template <typename T>
Operands<T> operands_of(const AttentionCall& call, std::span<const at::Tensor> tensors) {
  if (!call.packed) return {data_of<T>(tensors[0]), data_of<T>(tensors[1]), data_of<T>(tensors[2])};
  T* q = data_of<T>(tensors[0]);
  if (!q) return {nullptr, nullptr, nullptr};
  return {q, q + call.offsets.k, q + call.offsets.v};
}

void forward(const ForwardArguments& arguments) {
  const AttentionCall call = call_of(arguments.op, arguments.inputs);
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const auto in = operands_of<T>(call, arguments.inputs);
    const AttentionForward<T> tensors{in.q, in.k, in.v, data_of<T>(arguments.outputs[0]),
                                      data_of<float>(arguments.extras[0])};
    for_parts_with_scratch(call.shape.batch * call.shape.heads, attention_forward_scratch<T>(call.shape),
                           [&](std::int64_t begin, std::int64_t end, char* scratch) {
                             attention_forward(call.shape, tensors, begin, end, scratch);
                           });
  });
}

void backward(const BackwardArguments& arguments) {
  const AttentionCall call = call_of(arguments.op, arguments.saved_inputs);
  with_element_type(arguments.saved_inputs[0], [&](auto element) {
    using T = decltype(element);
    const auto in = operands_of<T>(call, arguments.saved_inputs);
    const auto gradients = operands_of<T>(call, arguments.input_gradients);
    const AttentionBackward<T> tensors{data_of<T>(arguments.output_gradients[0]),
                                       in.q,
                                       in.k,
                                       in.v,
                                       data_of<T>(arguments.saved_outputs[0]),
                                       data_of<float>(arguments.extras[0]),
                                       gradients.q,
                                       gradients.k,
                                       gradients.v};
    for_parts_with_scratch(call.shape.batch * call.shape.kv_heads, attention_backward_scratch<T>(call.shape),
                           [&](std::int64_t begin, std::int64_t end, char* scratch) {
                             attention_backward(call.shape, tensors, begin, end, scratch);
                           });
  });
}

}  // namespace

extern const OperatorImplementation k_attention_implementation{forward, backward};

}  // namespace shardlab

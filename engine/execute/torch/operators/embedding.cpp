// Backward adds up the rows of equal tokens in float32 before they are rounded, in order of position: the
// result does not depend on the number of threads, and a frequent token loses no bits. Workspace: 8 bytes a
// token (their order) and one float32 row a thread.
#include <cstring>
#include <numeric>

#include "engine/execute/torch/operators/embedding_attributes.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void check_tokens(const std::int64_t* tokens, std::int64_t count, std::int64_t vocabulary) {
  for (std::int64_t i = 0; i < count; ++i) {
    TORCH_CHECK_INDEX(tokens[i] >= 0 && tokens[i] < vocabulary, "token ", tokens[i], " at position ", i,
                      " is not below ", vocabulary, ", the size of the vocabulary");
  }
}

void scale_elements(const at::Tensor& tensor, float scale) {
  if (scale == 1) return;
  with_element_type(tensor, [&](auto element) {
    using T = decltype(element);
    T* values = data_of<T>(tensor);
    for_rows(tensor.numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().scale(scale, values + begin, end - begin, values + begin);
    });
  });
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor& tokens = arguments.inputs[0];
  const at::Tensor& table = arguments.parameters[0];
  const auto* ids = data_of<std::int64_t>(tokens);
  check_tokens(ids, tokens.numel(), table.size(0));
  const std::int64_t bytes = width_of(table) * table.element_size();
  const auto* from = static_cast<const char*>(table.data_ptr());
  auto* to = static_cast<char*>(arguments.outputs[0].data_ptr());
  for_rows(tokens.numel(), width_of(table), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      std::memcpy(to + i * bytes, from + ids[i] * bytes, static_cast<std::size_t>(bytes));
  });
  scale_elements(arguments.outputs[0], embedding_scale(arguments.op, table.scalar_type()));
}

// Positions sorted by token, equal tokens in order.
at::Tensor order_by_token(const std::int64_t* tokens, std::int64_t count) {
  at::Tensor order = at::empty({count}, at::TensorOptions(at::kLong));
  auto* positions = data_of<std::int64_t>(order);
  std::iota(positions, positions + count, std::int64_t{0});
  std::sort(positions, positions + count, [&](std::int64_t a, std::int64_t b) {
    return tokens[a] != tokens[b] ? tokens[a] < tokens[b] : a < b;
  });
  return order;
}

template <typename T>
struct TableGradient {
  const std::int64_t* tokens;
  const std::int64_t* order;
  const T* rows;
  T* table;
  std::int64_t width;
  float scale;
  std::int64_t padding;  // no gradient from this token; none when negative

  // Positions [begin, end) of `order`; `sums` holds one row. The caller does not cut between equal tokens.
  void add(std::int64_t begin, std::int64_t end, float* sums) const {
    const RowKernels<T>& kernels = row_kernels<T>();
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t token = tokens[order[i]];
      std::fill_n(sums, width, 0.0f);
      const std::int64_t first = i;
      while (i < end && tokens[order[i]] == token) ++i;
      if (token == padding) continue;
      for (std::int64_t at = first; at < i; ++at) kernels.add_row(rows + order[at] * width, width, sums);
      if (scale != 1) row_kernels<float>().scale(scale, sums, width, sums);
      kernels.store_row(sums, true, width, table + token * width);
    }
  }
  // The first position at or after `i` where a token begins.
  std::int64_t next_token(std::int64_t i, std::int64_t count) const {
    while (i > 0 && i < count && tokens[order[i]] == tokens[order[i - 1]]) ++i;
    return i;
  }
};

void backward(const BackwardArguments& arguments) {
  const auto& [gradient, accumulate] = arguments.parameter_gradients[0];
  if (!gradient.defined()) return;
  if (!accumulate) std::memset(gradient.data_ptr(), 0, gradient.nbytes());
  const at::Tensor& tokens = arguments.saved_inputs[0];
  const std::int64_t count = tokens.numel(), width = width_of(gradient);
  const auto* ids = data_of<std::int64_t>(tokens);
  const at::Tensor order = order_by_token(ids, count);
  with_element_type(gradient, [&](auto element) {
    using T = decltype(element);
    const TableGradient<T> table{ids,
                                 data_of<std::int64_t>(order),
                                 data_of<T>(arguments.output_gradients[0]),
                                 data_of<T>(gradient),
                                 width,
                                 embedding_scale(arguments.op, gradient.scalar_type()),
                                 embedding_padding(arguments.op)};
    const auto row_bytes = width * static_cast<std::int64_t>(sizeof(float));
    for_parts_with_scratch(count, row_bytes, [&](std::int64_t begin, std::int64_t end, char* scratch) {
      table.add(table.next_token(begin, count), table.next_token(end, count),
                reinterpret_cast<float*>(scratch));
    });
  });
}

}  // namespace

extern const OperatorImplementation k_embedding_implementation{forward, backward};

}  // namespace shardlab

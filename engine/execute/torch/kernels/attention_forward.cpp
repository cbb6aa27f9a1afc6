#include "engine/execute/torch/kernels/attention_blocks.h"

namespace shardlab {
namespace {

template <typename T>
struct ForwardScratch {
  float* scores;
  T* probabilities;    // float: the scores
  float* accumulator;  // float: the output itself
  float *maximum, *sum, *correction;
  std::int64_t used;

  ForwardScratch(const AttentionShape& shape, char* start) {
    Scratch scratch(start);
    const std::int64_t rows = block_rows(shape);
    scores = scratch.take<float>(rows * block_columns(shape));
    maximum = scratch.take<float>(rows);
    sum = scratch.take<float>(rows);
    correction = scratch.take<float>(rows);
    if constexpr (k_is_float<T>) {
      probabilities = scores;
      accumulator = nullptr;
    } else {
      probabilities = scratch.take<T>(rows * block_columns(shape));
      accumulator = scratch.take<float>(rows * shape.head_dim);
    }
    used = scratch.used();
  }
};

// One block of queries of one head: q, k, v and output point at the head's first position, `bias` at the
// head's row.
template <typename T>
void forward_block(const AttentionShape& shape, const AttentionForward<T>& head, const float* bias,
                   std::int64_t first, const ForwardScratch<T>& scratch) {
  const RowKernels<T>& kernels = row_kernels<T>();
  const std::int64_t rows = std::min(query_block(shape), shape.sequence - first);
  const std::int64_t seen = first + rows, start = first_key_block(shape, first);
  const std::int64_t dim = shape.head_dim;
  T* output = head.output + first * shape.output_stride();
  float* accumulator = scratch.accumulator;
  std::int64_t stride = dim;
  if constexpr (k_is_float<T>) {
    accumulator = output;
    stride = shape.output_stride();
  }
  std::fill_n(scratch.maximum, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(scratch.sum, rows, 0.0f);
  for (std::int64_t key = start; key < seen; key += k_key_block) {
    const std::int64_t columns = std::min(k_key_block, seen - key);
    const MatrixView<T> q{head.q + first * shape.q.position, shape.q.position};
    const MatrixView<T> k_transposed{head.k + key * shape.kv.position, shape.kv.position, true};
    const ScoreBlock block = score_block(shape, scratch.scores, rows, columns, first, key);
    multiply(rows, columns, dim, shape.scale, q, k_transposed, 0, scratch.scores, columns);
    adjust_scores(shape, block, bias ? bias + key : nullptr, nullptr);
    kernels.softmax_step(block, scratch.maximum, scratch.sum, scratch.correction, scratch.probabilities);
    if (key > start) kernels.scale_rows(scratch.correction, rows, dim, stride, accumulator);
    const MatrixView<T> v{head.v + key * shape.kv.position, shape.kv.position};
    multiply(rows, dim, columns, 1, MatrixView<T>{scratch.probabilities, columns}, v, key > start ? 1 : 0,
             accumulator, stride);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    head.log_sum_exp[first + row] = scratch.maximum[row] + std::log(scratch.sum[row]);
    scratch.correction[row] = 1 / scratch.sum[row];
  }
  kernels.scale_rows_into(scratch.correction, rows, dim, accumulator, stride, output, shape.output_stride());
}

}  // namespace

template <typename T>
std::int64_t attention_forward_scratch(const AttentionShape& shape) {
  return ForwardScratch<T>(shape, nullptr).used;
}

template <typename T>
void attention_forward(const AttentionShape& shape, const AttentionForward<T>& tensors, std::int64_t begin,
                       std::int64_t end, char* memory) {
  const ForwardScratch<T> scratch(shape, memory);
  for (std::int64_t index = begin; index < end; ++index) {
    const std::int64_t batch = index / shape.heads;
    const std::int64_t head = index % shape.heads;
    const std::int64_t kv_head = head / shape.queries_per_key();
    const std::int64_t query = batch * shape.sequence * shape.q.position + shape.query_offset(head);
    const std::int64_t key = batch * shape.sequence * shape.kv.position + kv_head * shape.kv.group;
    const std::int64_t output = batch * shape.sequence * shape.output_stride() + head * shape.head_dim;
    const AttentionForward<T> at{tensors.q + query, tensors.k + key, tensors.v + key, tensors.output + output,
                                 tensors.log_sum_exp + index * shape.sequence};
    const float* bias = shape.bias ? shape.bias + head * shape.sequence : nullptr;
    for (std::int64_t first = 0; first < shape.sequence; first += query_block(shape))
      forward_block(shape, at, bias, first, scratch);
  }
}

template std::int64_t attention_forward_scratch<float>(const AttentionShape&);
template std::int64_t attention_forward_scratch<BFloat16>(const AttentionShape&);
template void attention_forward<float>(const AttentionShape&, const AttentionForward<float>&, std::int64_t,
                                       std::int64_t, char*);
template void attention_forward<BFloat16>(const AttentionShape&, const AttentionForward<BFloat16>&,
                                          std::int64_t, std::int64_t, char*);
template std::int64_t attention_forward_scratch<Float16>(const AttentionShape&);
template void attention_forward<Float16>(const AttentionShape&, const AttentionForward<Float16>&,
                                         std::int64_t, std::int64_t, char*);

}  // namespace shardlab

#include "engine/execute/torch/kernels/attention_blocks.h"

namespace shardlab {
namespace {

// A gradient while it is summed: float32, in place for float, in scratch memory otherwise.
struct Sum {
  float* data = nullptr;  // null: not wanted
  std::int64_t stride = 0;
};

template <typename T>
struct BackwardScratch {
  float *scores, *gradient, *delta;
  float* slopes;                      // of the soft cap; null without one
  T *probabilities, *score_gradient;  // float: the two above
  float *dq, *dk, *dv;                // float: null, the gradients are summed in place
  std::int64_t used;

  BackwardScratch(const AttentionShape& shape, char* start) {
    Scratch scratch(start);
    const std::int64_t rows = block_rows(shape);
    const std::int64_t block = rows * block_columns(shape);
    scores = scratch.take<float>(block);
    gradient = scratch.take<float>(block);
    delta = scratch.take<float>(rows);
    slopes = shape.soft_cap > 0 ? scratch.take<float>(block) : nullptr;
    if constexpr (k_is_float<T>) {
      probabilities = scores;
      score_gradient = gradient;
      dq = dk = dv = nullptr;
    } else {
      probabilities = scratch.take<T>(block);
      score_gradient = scratch.take<T>(block);
      dq = scratch.take<float>(rows * shape.head_dim);
      dk = scratch.take<float>(shape.sequence * shape.head_dim);
      dv = scratch.take<float>(shape.sequence * shape.head_dim);
    }
    used = scratch.used();
  }

  static Sum sum_of(T* gradient_, std::int64_t gradient_stride, float* own, std::int64_t dim) {
    if (!gradient_) return {};
    if constexpr (k_is_float<T>) return {gradient_, gradient_stride};
    return {own, dim};
  }
  // Rounds a finished sum into the gradient.
  void finish(const Sum& sum, std::int64_t rows, std::int64_t dim, T* result, std::int64_t stride) const {
    if constexpr (!k_is_float<T>) {
      for (std::int64_t row = 0; sum.data && row < rows; ++row) {
        row_kernels<T>().store_row(sum.data + row * sum.stride, false, dim, result + row * stride);
      }
    }
  }
};

// The gradient of the scores from that of the probabilities, through the cap where there is one.
template <typename T>
void score_gradients(const ScoreBlock& block, const BackwardScratch<T>& scratch) {
  if (!scratch.slopes) {
    row_kernels<T>().softmax_backward(block, scratch.gradient, scratch.delta, scratch.score_gradient);
    return;
  }
  row_kernels<float>().softmax_backward(block, scratch.gradient, scratch.delta, scratch.gradient);
  row_kernels<T>().product(scratch.gradient, scratch.slopes, block.rows * block.columns,
                           scratch.score_gradient);
}

// The pointers of one query head, at its first position.
template <typename T>
struct BackwardHead {
  const T *d_output, *q, *k, *v, *output;
  const float *log_sum_exp, *bias;
  T* dq;
};

// One block of queries of one head; dk and dv are sums over the whole sequence. The first block that is
// worked on (the last of the sequence) sees all keys unless there is a window.
template <typename T>
void backward_block(const AttentionShape& shape, const BackwardHead<T>& head, std::int64_t first,
                    bool overwrite, const Sum& dk, const Sum& dv, const BackwardScratch<T>& scratch) {
  const RowKernels<T>& kernels = row_kernels<T>();
  const std::int64_t dim = shape.head_dim;
  const std::int64_t rows = std::min(query_block(shape), shape.sequence - first);
  const std::int64_t seen = first + rows, begin = first_key_block(shape, first);
  const std::int64_t start = first * shape.q.position, output = first * shape.output_stride();
  const float beta = overwrite ? 0.0f : 1.0f;
  const MatrixView<T> q{head.q + start, shape.q.position};
  const MatrixView<T> d_output{head.d_output + output, shape.output_stride()};
  T* dq_result = head.dq ? head.dq + start : nullptr;
  const Sum dq = scratch.sum_of(dq_result, shape.q.position, scratch.dq, dim);
  kernels.dot_rows(d_output.data, head.output + output, rows, dim, shape.output_stride(),
                   shape.output_stride(), scratch.delta);
  for (std::int64_t key = begin; key < seen; key += k_key_block) {
    const std::int64_t columns = std::min(k_key_block, seen - key);
    const std::int64_t offset = key * shape.kv.position;
    const MatrixView<T> k{head.k + offset, shape.kv.position};
    const ScoreBlock block = score_block(shape, scratch.scores, rows, columns, first, key);
    const MatrixView<T> p_transposed{scratch.probabilities, columns, true};
    multiply(rows, columns, dim, shape.scale, q, MatrixView<T>{k.data, k.stride, true}, 0, scratch.scores,
             columns);
    adjust_scores(shape, block, head.bias ? head.bias + key : nullptr, scratch.slopes);
    kernels.probabilities(block, head.log_sum_exp + first, scratch.probabilities);
    if (dv.data)
      multiply(columns, dim, rows, 1, p_transposed, d_output, beta, dv.data + key * dv.stride, dv.stride);
    if (!dq.data && !dk.data) continue;
    const MatrixView<T> v_transposed{head.v + offset, shape.kv.position, true};
    multiply(rows, columns, dim, 1, d_output, v_transposed, 0, scratch.gradient, columns);
    score_gradients(block, scratch);
    const MatrixView<T> ds{scratch.score_gradient, columns};
    if (dq.data) multiply(rows, dim, columns, shape.scale, ds, k, key > begin ? 1 : 0, dq.data, dq.stride);
    if (dk.data) {
      multiply(columns, dim, rows, shape.scale, MatrixView<T>{ds.data, columns, true}, q, beta,
               dk.data + key * dk.stride, dk.stride);
    }
  }
  scratch.finish(dq, rows, dim, dq_result, shape.q.position);
}

void clear_sum(const Sum& sum, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; sum.data && row < rows; ++row)
    std::fill_n(sum.data + row * sum.stride, width, 0.0f);
}

template <typename T>
T* offset_or_null(T* pointer, std::int64_t offset) {
  return pointer ? pointer + offset : nullptr;
}

}  // namespace

template <typename T>
std::int64_t attention_backward_scratch(const AttentionShape& shape) {
  return BackwardScratch<T>(shape, nullptr).used;
}

template <typename T>
void attention_backward(const AttentionShape& shape, const AttentionBackward<T>& tensors, std::int64_t begin,
                        std::int64_t end, char* memory) {
  const BackwardScratch<T> scratch(shape, memory);
  const std::int64_t group = shape.queries_per_key();
  const std::int64_t last_block = (shape.sequence - 1) / query_block(shape) * query_block(shape);
  for (std::int64_t index = begin; index < end; ++index) {
    const std::int64_t batch = index / shape.kv_heads;
    const std::int64_t kv_head = index % shape.kv_heads;
    const std::int64_t key = batch * shape.sequence * shape.kv.position + kv_head * shape.kv.group;
    T* dk_result = offset_or_null(tensors.dk, key);
    T* dv_result = offset_or_null(tensors.dv, key);
    const Sum dk = scratch.sum_of(dk_result, shape.kv.position, scratch.dk, shape.head_dim);
    const Sum dv = scratch.sum_of(dv_result, shape.kv.position, scratch.dv, shape.head_dim);
    if (shape.window > 0) {  // the last block does not see all keys, so it cannot be the one that overwrites
      clear_sum(dk, shape.sequence, shape.head_dim);
      clear_sum(dv, shape.sequence, shape.head_dim);
    }
    for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
      const std::int64_t query = batch * shape.sequence * shape.q.position + shape.query_offset(head);
      const std::int64_t output = batch * shape.sequence * shape.output_stride() + head * shape.head_dim;
      const BackwardHead<T> at{tensors.d_output + output,
                               tensors.q + query,
                               tensors.k + key,
                               tensors.v + key,
                               tensors.output + output,
                               tensors.log_sum_exp + (batch * shape.heads + head) * shape.sequence,
                               shape.bias ? shape.bias + head * shape.sequence : nullptr,
                               offset_or_null(tensors.dq, query)};
      for (std::int64_t first = last_block; first >= 0; first -= query_block(shape)) {
        const bool overwrite = shape.window == 0 && first == last_block && head == kv_head * group;
        backward_block(shape, at, first, overwrite, dk, dv, scratch);
      }
    }
    scratch.finish(dk, shape.sequence, shape.head_dim, dk_result, shape.kv.position);
    scratch.finish(dv, shape.sequence, shape.head_dim, dv_result, shape.kv.position);
  }
}

template std::int64_t attention_backward_scratch<float>(const AttentionShape&);
template std::int64_t attention_backward_scratch<BFloat16>(const AttentionShape&);
template void attention_backward<float>(const AttentionShape&, const AttentionBackward<float>&, std::int64_t,
                                        std::int64_t, char*);
template void attention_backward<BFloat16>(const AttentionShape&, const AttentionBackward<BFloat16>&,
                                           std::int64_t, std::int64_t, char*);
template std::int64_t attention_backward_scratch<Float16>(const AttentionShape&);
template void attention_backward<Float16>(const AttentionShape&, const AttentionBackward<Float16>&,
                                          std::int64_t, std::int64_t, char*);

}  // namespace shardlab

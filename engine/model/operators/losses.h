// Sizes that the descriptions of the chunked losses are made of.
#pragma once

#include <algorithm>

#include "engine/model/operators/work.h"

namespace shardlab {

// `whole` in `chunks` parts: the length of all but the last, and how many there are (fewer where parts would
// be empty).
inline std::int64_t chunk_extent(std::int64_t whole, std::int64_t chunks) {
  return (whole + chunks - 1) / std::max<std::int64_t>(1, chunks);
}
inline std::int64_t chunk_count(std::int64_t whole, std::int64_t chunks) {
  const std::int64_t extent = std::max<std::int64_t>(1, chunk_extent(whole, chunks));
  return (whole + extent - 1) / extent;
}

struct ChunkedLossSizes {
  std::int64_t rows, width, vocabulary, chunks;
  DType dtype;
  bool of_input, of_weight, of_bias;  // gradients wanted

  ChunkedLossSizes(const ModelGraph& graph, const Operator& op) {
    const Tensor& x = graph.tensor(op.inputs[0]);
    const Parameter& weight = graph.parameter(op.parameters[0]);
    vocabulary = weight.shape[0];
    width = weight.shape[1];
    rows = element_count(x.shape) / width;
    chunks = op.attributes.get(attribute::k_chunks);
    dtype = x.dtype;
    of_input = x.requires_grad;
    of_weight = weight.requires_grad;
    // A vector; behind the head of a distillation's student comes the teacher's.
    of_bias = op.parameters.size() > 1 && graph.parameter(op.parameters[1]).shape.size() == 1 &&
              graph.parameter(op.parameters[1]).requires_grad;
  }
  Flops product() const { return {saturated_product(2, rows, width, vocabulary)}; }
};

// `count` products alike, of `flops` together.
inline Work products(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, Flops flops,
                     DType dtype) {
  Work work = matmul_work(m, n, k, dtype);
  work.kernels = static_cast<int>(count);
  work.flops = work.model_flops = flops;
  work.bytes = work.bytes * count;
  return work;
}

}  // namespace shardlab

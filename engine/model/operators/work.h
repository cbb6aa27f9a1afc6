// Helpers of operator descriptions.
#pragma once

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

inline Work memory_work(Bytes bytes, int kernels = 1) {
  Work work;
  work.bytes = bytes;
  work.kernels = kernels;
  return work;
}

// What a matrix takes. It may be larger than any tensor of the graph: nobody has to hold it whole.
inline Bytes matrix_bytes(std::int64_t rows, std::int64_t columns, DType dtype) {
  return bytes_of(saturated_product(rows, columns), dtype);
}

// One m x k by k x n product of elements of `dtype`.
inline Work matmul_work(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
  Work work;
  work.kind = WorkKind::matmul;
  work.m = m;
  work.n = n;
  work.k = k;
  work.flops = work.model_flops = Flops{saturated_product(2, m, n, k)};
  work.bytes = matrix_bytes(m, k, dtype) + matrix_bytes(k, n, dtype) + matrix_bytes(m, n, dtype);
  return work;
}

// As many such products in one kernel.
inline Work batched_matmul_work(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                                DType dtype) {
  Work work = matmul_work(m, n, k, dtype);
  work.batch = batch;
  work.flops = work.model_flops = work.flops * batch;
  work.bytes = work.bytes * batch;
  return work;
}

}  // namespace shardlab

// Helpers of operator descriptions.
#pragma once

#include "engine/model/operators/operator_type.h"

namespace shardlab {

inline Work memory_work(Bytes bytes, int kernels = 1) {
  Work work;
  work.bytes = bytes;
  work.kernels = kernels;
  return work;
}

// One m x k by k x n product of elements of `dtype`.
inline Work matmul_work(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
  Work work;
  work.kind = WorkKind::matmul;
  work.m = m;
  work.n = n;
  work.k = k;
  work.flops = work.model_flops = Flops{2 * m * n * k};
  work.bytes = bytes_of(m * k + k * n + m * n, dtype);
  return work;
}

}  // namespace shardlab

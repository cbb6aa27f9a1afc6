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

// As many such products in one kernel.
inline Work batched_matmul_work(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                                DType dtype) {
  Work work = matmul_work(m, n, k, dtype);
  work.batch = static_cast<int>(batch);
  work.flops = work.model_flops = work.flops * batch;
  work.bytes = work.bytes * batch;
  return work;
}

}  // namespace shardlab

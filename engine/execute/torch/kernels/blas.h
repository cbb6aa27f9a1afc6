// Matrix products on raw row-major memory, on the calling thread when it is inside at::parallel_for.
//
// float32 through the standard BLAS symbol; bfloat16 and float16 to float32 through those that MKL adds. All
// are exported by libtorch_cpu of the x86-64 wheels (torch 2.11). On processors with AMX or AVX512_BF16 the
// second is several times as fast.
#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/execute/torch/kernels/row_kernels.h"

extern "C" {
void sgemm_(const char*, const char*, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);
void gemm_bf16bf16f32_(const char*, const char*, const int* m, const int* n, const int* k, const float* alpha,
                       const shardlab::BFloat16* a, const int* lda, const shardlab::BFloat16* b,
                       const int* ldb, const float* beta, float* c, const int* ldc);
void gemm_f16f16f32_(const char*, const char*, const int* m, const int* n, const int* k, const float* alpha,
                     const shardlab::Float16* a, const int* lda, const shardlab::Float16* b, const int* ldb,
                     const float* beta, float* c, const int* ldc);
}

namespace shardlab {

// A row-major matrix in memory, rows `stride` elements apart; read as its transpose when `transposed`.
template <typename T>
struct MatrixView {
  const T* data;
  std::int64_t stride;
  bool transposed = false;
};

// c [rows, columns] = alpha a b + beta c, with a [rows, inner] and b [inner, columns]. Sizes and strides fit
// 32 bits.
template <typename T>
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t inner, float alpha, MatrixView<T> a,
              MatrixView<T> b, float beta, float* c, std::int64_t c_stride) {
  // BLAS is column-major: c^T = b^T a^T.
  const int m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(inner);
  const int lda = static_cast<int>(b.stride), ldb = static_cast<int>(a.stride),
            ldc = static_cast<int>(c_stride);
  const char ta = b.transposed ? 'T' : 'N';
  const char tb = a.transposed ? 'T' : 'N';
  if constexpr (std::is_same_v<T, float>) {
    sgemm_(&ta, &tb, &m, &n, &k, &alpha, b.data, &lda, a.data, &ldb, &beta, c, &ldc);
  } else if constexpr (std::is_same_v<T, Float16>) {
    gemm_f16f16f32_(&ta, &tb, &m, &n, &k, &alpha, b.data, &lda, a.data, &ldb, &beta, c, &ldc);
  } else {
    gemm_bf16bf16f32_(&ta, &tb, &m, &n, &k, &alpha, b.data, &lda, a.data, &ldb, &beta, c, &ldc);
  }
}

}  // namespace shardlab

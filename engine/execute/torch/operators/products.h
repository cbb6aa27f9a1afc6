// Matrix products of the operators: ATen's, but for 16-bit ones on a processor for which ATen has no more
// than a loop over elements (torch 2.11: bfloat16 without AVX512, float16 everywhere; a gradient of 512 x 512
// by 512 x 1376 takes 871 ms there, 9 ms in float32). Those go through the BLAS that comes with libtorch:
// summed in float32, rounded once. Private to the operators.
//
// All are matrices of one dtype and device. What is written must not overlap what is read, but for an addend
// that is the result itself.
#pragma once

#include <ATen/core/Tensor.h>

namespace shardlab {

// y = a b.
void product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b);

struct ProductFactors {
  double addend = 1, product = 1;
};

// y = factors.addend * addend + factors.product * a b. The addend has the shape of y, or is one row for all;
// with a factor of 0 it is not read.
void add_product(const at::Tensor& y, const at::Tensor& addend, const at::Tensor& a, const at::Tensor& b,
                 ProductFactors factors = {});

// y[i] = a[i] b[i] of [count, rows, columns].
void batched_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b);
at::Tensor batched_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace shardlab

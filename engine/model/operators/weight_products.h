// The three products of a layer with a weight [out, in], each only where it is asked for.
#pragma once

#include "engine/model/operators/work.h"

namespace shardlab {

// y = x W^T, dx = dy W where x needs a gradient, dW = dy^T x where the weight does: `rows` rows of x.
inline void add_weight_products(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Tensor& x,
                                const Parameter& weight, OperatorDescription& description) {
  description.forward.push_back(matmul_work(rows, outputs, inputs, x.dtype));
  if (x.requires_grad) description.backward.push_back(matmul_work(rows, inputs, outputs, x.dtype));
  if (weight.requires_grad) description.backward.push_back(matmul_work(outputs, inputs, rows, x.dtype));
}

}  // namespace shardlab

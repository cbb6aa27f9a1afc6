// The residual sum and the norm that reads it, in one pass: sum = x + residual, y = RMSNorm(sum).
#pragma once

#include "engine/kernels/rms_norm.h"

namespace shardlab::kernels {

// `sum` may be `residual`. Each lane reads back only what it wrote itself.
template <typename T, typename Lanes>
SHARDLAB_HD void add_rms_norm_row(Lanes& lanes, const T* x, const T* residual, const T* w, T* sum, T* y, float* reciprocal,
                                  std::int64_t width, float epsilon) {
  for (std::int64_t i = lanes.lane(); i < width; i += lanes.count()) sum[i] = from_float<T>(to_float(x[i]) + to_float(residual[i]));
  rms_norm_row(lanes, sum, w, y, reciprocal, width, epsilon);
}

}  // namespace shardlab::kernels

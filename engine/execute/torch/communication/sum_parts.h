// The arithmetic of a reduction.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace shardlab {

// result = scale * (parts[0] + parts[1] + ...), added in this order in float32 (float64 for float64). All are
// flat and of one dtype and length; result may be one of the parts.
void sum_parts(const at::Tensor& result, std::span<const at::Tensor> parts, double scale);

}  // namespace shardlab

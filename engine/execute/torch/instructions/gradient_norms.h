// Sums of squares over pieces of gradients.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

// The squared norm of each piece, flat tensors of one device: a tensor of as many numbers on that device.
//
// On a host float64, added up in float64: the same to the last bits however elements are split over ranks. On
// a device float32, all pieces at once, as torch 2.11 does it (torch/nn/utils/clip_grad.py, foreach).
at::Tensor squared_norms(const std::vector<at::Tensor>& pieces, Arithmetic arithmetic);

}  // namespace shardlab

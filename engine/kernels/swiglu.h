// SwiGLU: y = silu(gate) * up, in float32 and rounded once.
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

template <typename T>
SHARDLAB_HD T swiglu(T gate, T up) {
  const float g = to_float(gate);
  return from_float<T>(g / (1.0F + expf(-g)) * to_float(up));
}

template <typename T>
struct SwigluGradients {
  T gate, up;
};

template <typename T>
SHARDLAB_HD SwigluGradients<T> swiglu_backward(T dy, T gate, T up) {
  const float g = to_float(gate), d = to_float(dy);
  const float sigmoid = 1.0F / (1.0F + expf(-g));
  const float slope = sigmoid * (1.0F + g * (1.0F - sigmoid));
  return {from_float<T>(d * to_float(up) * slope), from_float<T>(d * g * sigmoid)};
}

}  // namespace shardlab::kernels

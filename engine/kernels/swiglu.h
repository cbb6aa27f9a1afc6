// SwiGLU: y = silu(gate) * up, in float32 and rounded once.
#pragma once

#include <cmath>

#include "engine/kernels/pack.h"

namespace shardlab::kernels {

// 1 / (1 + exp(-x)) for results of type T. Where they are rounded to bfloat16, devices take their approximate
// exponential and reciprocal, of a relative error below 1e-6: the exact ones take more time than the memory.
template <typename T>
SHARDLAB_HD float sigmoid(float x) {
  if constexpr (sizeof(T) == 2) {
#if defined(__CUDA_ARCH__)
    float power, result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.44269504F));  // log2(e)
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1.0F + power));
    return result;
#else
    return 1.0F / (1.0F + expf(-x));
#endif
  } else {
    return 1.0F / (1.0F + expf(-x));
  }
}

template <int N, typename T>
SHARDLAB_HD Pack<T, N> swiglu(const Pack<T, N>& gate, const Pack<T, N>& up) {
  const Pack<float, N> g = to_floats(gate), u = to_floats(up);
  Pack<float, N> y;
  for (int j = 0; j < N; ++j) y.values[j] = g.values[j] * sigmoid<T>(g.values[j]) * u.values[j];
  return from_floats<T>(y);
}

template <typename T>
struct SwigluGradients {
  T gate, up;
};

template <int N, typename T>
SHARDLAB_HD SwigluGradients<Pack<T, N>> swiglu_backward(const Pack<T, N>& dy, const Pack<T, N>& gate,
                                                        const Pack<T, N>& up) {
  const Pack<float, N> d = to_floats(dy), g = to_floats(gate), u = to_floats(up);
  Pack<float, N> of_gate, of_up;
  for (int j = 0; j < N; ++j) {
    const float s = sigmoid<T>(g.values[j]), slope = s * (1.0F + g.values[j] * (1.0F - s));
    of_gate.values[j] = d.values[j] * u.values[j] * slope;
    of_up.values[j] = d.values[j] * g.values[j] * s;
  }
  return {from_floats<T>(of_gate), from_floats<T>(of_up)};
}

// Single elements.
template <typename T>
SHARDLAB_HD T swiglu(T gate, T up) {
  return swiglu(Pack<T, 1>{{gate}}, Pack<T, 1>{{up}}).values[0];
}
template <typename T>
SHARDLAB_HD SwigluGradients<T> swiglu_backward(T dy, T gate, T up) {
  const auto gradients = swiglu_backward(Pack<T, 1>{{dy}}, Pack<T, 1>{{gate}}, Pack<T, 1>{{up}});
  return {gradients.gate.values[0], gradients.up.values[0]};
}

}  // namespace shardlab::kernels

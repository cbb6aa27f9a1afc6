// gelu in both forms, its gated product, soft caps, masks. Private to isa_*.cpp.
#pragma once

#include "engine/execute/torch/kernels/body/vector.h"

namespace shardlab::SHARDLAB_ISA {

// tanh and erf as x P(x^2) / Q(x^2) on the range where float32 can tell them from +-1; coefficients of
// Eigen's and XLA's float32 versions, right to a few units in the last place.
SHARDLAB_INLINE Floats clamped(Floats x, float bound) {
  x = x < -bound ? broadcast(-bound) : x;  // comparisons that a NaN passes unchanged
  return x > bound ? broadcast(bound) : x;
}

SHARDLAB_INLINE Floats hyperbolic_tangent(Floats x) {
  x = clamped(x, 7.90531110763549805f);
  const Floats s = x * x;
  Floats p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  Floats q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return x * p / q;
}

SHARDLAB_INLINE Floats error_function(Floats any) {
  const Floats x = clamped(any, 4.0f);
  const Floats s = x * x;
  Floats p = s * -2.72614225801306e-10f + 2.77068142495902e-08f;
  p = p * s + -2.10102402082508e-06f;
  p = p * s + -5.69250639462346e-05f;
  p = p * s + -7.34990630326855e-04f;
  p = p * s + -2.95459980854025e-03f;
  p = p * s + -1.60960333262415e-02f;
  Floats q = s * -1.45660718464996e-05f + -2.13374055278905e-04f;
  q = q * s + -1.68282697438203e-03f;
  q = q * s + -7.37332916720468e-03f;
  q = q * s + -1.42647390514189e-02f;
  const Floats ratio = x * p / q;
  return any >= 4.0f ? broadcast(1.0f) : any <= -4.0f ? broadcast(-1.0f) : ratio;
}

constexpr float k_sqrt_half = 0.70710678118654752f;
constexpr float k_sqrt_two_over_pi = 0.79788456080286536f;
constexpr float k_inverse_sqrt_two_pi = 0.39894228040143268f;
constexpr float k_cubic = 0.044715f;

// Twice the argument of the tanh: 0.5 (1 + tanh(u)) is sigmoid(2 u). Beyond 10 the sigmoid is 0 or 1 to
// float32, and powers of x must not overflow.
SHARDLAB_INLINE Floats gelu_argument(Floats x) {
  x = clamped(x, 10.0f);
  return 2.0f * k_sqrt_two_over_pi * (x + k_cubic * x * x * x);
}

// gelu(x) is x times this.
SHARDLAB_INLINE Floats gelu_share(GeluForm form, Floats x) {
  if (form == GeluForm::exact) return 0.5f + 0.5f * error_function(x * k_sqrt_half);
  return sigmoid(gelu_argument(x));
}

SHARDLAB_INLINE Floats gelu_slope(GeluForm form, Floats x, Floats share) {
  if (form == GeluForm::exact) {
    const Floats inner = clamped(x, 14.0f);  // the density is 0 to float32 beyond
    return share + inner * (k_inverse_sqrt_two_pi * exponential(-0.5f * inner * inner));
  }
  const Floats inner = clamped(x, 10.0f);
  const Floats slope = 2.0f * k_sqrt_two_over_pi * (1.0f + 3.0f * k_cubic * inner * inner);
  return share + inner * (share * sigmoid(-gelu_argument(x)) * slope);  // nothing cancels in 1 - share
}

template <typename T>
void gelu_forward(GeluForm form, const T* x, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const Floats value = load(x + i, count - i);
    store(y + i, value * gelu_share(form, value), count - i);
  }
}

template <typename T>
void gelu_backward(GeluForm form, const T* dy, const T* x, std::int64_t count, T* dx) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const Floats value = load(x + i, count - i);
    const Floats slope = gelu_slope(form, value, gelu_share(form, value));
    store(dx + i, load(dy + i, count - i) * slope, count - i);
  }
}

template <typename T>
void geglu_forward(GeluForm form, const T* gate, const T* up, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const Floats g = load(gate + i, count - i);
    store(y + i, g * gelu_share(form, g) * load(up + i, count - i), count - i);
  }
}

template <typename T>
void geglu_backward(GeluForm form, const T* dy, const T* gate, const T* up, std::int64_t count, T* dgate,
                    T* dup) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const std::int64_t left = count - i;
    const Floats g = load(gate + i, left);
    const Floats d = load(dy + i, left);
    const Floats share = gelu_share(form, g);
    if (dgate) store(dgate + i, d * load(up + i, left) * gelu_slope(form, g, share), left);
    if (dup) store(dup + i, d * (g * share), left);
  }
}

template <typename T>
void soft_cap_forward(float cap, const T* x, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes)
    store(y + i, cap * hyperbolic_tangent(load(x + i, count - i) / cap), count - i);
}

// The slope of cap tanh(x / cap) is 1 - (y / cap)^2.
template <typename T>
void soft_cap_backward(float cap, const T* dy, const T* y, std::int64_t count, T* dx) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const Floats share = load(y + i, count - i) / cap;
    store(dx + i, load(dy + i, count - i) * (1.0f - share * share), count - i);
  }
}

template <typename T>
void apply_mask(float factor, const T* x, const std::uint8_t* kept, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes) {
    const std::int64_t left = count - i < k_lanes ? count - i : k_lanes;
    Bytes bytes{};
    __builtin_memcpy(&bytes, kept + i, static_cast<std::size_t>(left));
    const Floats factors = __builtin_convertvector(bytes, Floats) * factor;
    store(y + i, load(x + i, left) * factors, left);
  }
}

template <typename T>
void scale(float factor, const T* x, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes) store(y + i, load(x + i, count - i) * factor, count - i);
}

template <typename T>
void product(const float* a, const float* b, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; i += k_lanes)
    store(y + i, load(a + i, count - i) * load(b + i, count - i), count - i);
}

}  // namespace shardlab::SHARDLAB_ISA

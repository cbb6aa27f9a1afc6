// The arithmetic of the kernels for devices, on the host against ATen in double precision: with one lane and
// with several, in float32 and bfloat16.
#include <ATen/ATen.h>

#include <limits>

#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/lanes.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/rotary.h"
#include "engine/kernels/swiglu.h"
#include "tests/catch.h"
#include "tests/unit/execute/torch/kernels/host_lanes.h"

namespace shardlab::test {
namespace {

using kernels::BFloat16;

template <typename T>
constexpr at::ScalarType k_type = std::is_same_v<T, float> ? at::kFloat : at::kBFloat16;
// Rounding of one result; sums are float32 in both.
template <typename T>
constexpr double k_tolerance = std::is_same_v<T, float> ? 2e-6 : 8e-3;

template <typename T>
at::Tensor random(at::IntArrayRef shape) {
  return at::randn(shape, at::kFloat).to(k_type<T>);
}
template <typename T>
T* data(const at::Tensor& tensor) {
  return reinterpret_cast<T*>(tensor.mutable_data_ptr());
}

template <typename T>
void check_close(const at::Tensor& made, const at::Tensor& reference, double least_scale = 0) {
  const at::Tensor expected = reference.to(at::kDouble);
  const double scale = std::max(expected.abs().max().item<double>(), least_scale);
  const double difference = (made.to(at::kDouble) - expected).abs().max().item<double>();
  INFO("worst difference " << difference << ", scale " << scale);
  CHECK(difference <= k_tolerance<T> * scale);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& w, double epsilon, double offset = 0) {
  return (w + offset) * x * at::rsqrt(x.square().mean(-1, true) + epsilon);
}

at::Tensor required(const at::Tensor& tensor) {
  return tensor.to(at::kDouble).requires_grad_(true);
}

template <int N, typename T>
void check_rms_norm(std::int64_t lanes, std::int64_t width, float offset) {
  at::manual_seed(7);
  const at::Tensor x = random<T>({3, width}), w = random<T>({width}), dy = random<T>({3, width});
  const at::Tensor y = at::empty_like(x), dx = at::empty_like(x), dw = at::empty({width}),
                   reciprocals = at::empty({3});
  for (std::int64_t row = 0; row < 3; ++row) {
    with_lanes(lanes, [&](auto& group) {
      const std::int64_t at = row * width;
      kernels::rms_norm_row<N>(group, data<T>(x) + at, data<T>(w), data<T>(y) + at,
                               data<float>(reciprocals) + row, width, 1e-5F, offset);
      group.sum(0);  // the first lane's reciprocal is there
      kernels::rms_norm_row_backward<N>(group, data<T>(dy) + at, data<T>(x) + at, data<T>(w),
                                        data<float>(reciprocals)[row], data<T>(dx) + at, width, offset);
    });
  }
  for (std::int64_t column = 0; column < width; column += N) {
    kernels::store_pack<N>(data<float>(dw) + column,
                           kernels::rms_norm_weight_gradient<N>(
                               data<T>(dy), data<T>(x), data<float>(reciprocals), 0, 3, column, width));
  }
  const at::Tensor x_reference = required(x), w_reference = required(w);
  const at::Tensor reference = rms_norm(x_reference, w_reference, 1e-5, double{offset});
  reference.backward(dy.to(at::kDouble));
  check_close<T>(y, reference.detach());
  // The result is a difference of terms of this size.
  check_close<T>(dx, x_reference.grad(),
                 (reciprocals * ((w.to(at::kFloat).abs() + offset) * dy.to(at::kFloat).abs()).amax(1))
                     .max()
                     .item<double>());
  check_close<T>(dw, w_reference.grad());
}

// The rows that lanes keep are those they read again, for any number of lanes that can keep them.
template <int N, typename T>
void check_held_rms_norm(std::int64_t lanes, std::int64_t width) {
  at::manual_seed(7);
  const at::Tensor x = random<T>({width}), w = random<T>({width});
  const at::Tensor y = at::empty_like(x), reciprocal = at::empty({1});
  with_lanes(lanes, [&](auto& group) {
    kernels::rms_norm_held_row<N, 4>(group, data<T>(x), data<T>(w), data<T>(y), data<float>(reciprocal),
                                     width, 1e-5F, 1.0F);
  });
  check_close<T>(y, rms_norm(x.to(at::kDouble), w.to(at::kDouble), 1e-5, 1));
}

template <int N, typename T>
void check_cross_entropy(std::int64_t lanes, std::int64_t classes) {
  at::manual_seed(8);
  const at::Tensor logits = random<T>({4, classes}) * 3;
  const at::Tensor targets =
      at::tensor({std::int64_t{0}, classes - 1, kernels::k_ignored_target, classes / 2});
  const at::Tensor reference_logits = required(logits);
  const at::Tensor reference = at::cross_entropy_loss(reference_logits, targets, {}, at::Reduction::None);
  reference.sum().backward();
  const at::Tensor losses = at::empty({4}), sums = at::empty({4});
  const at::Tensor gradient = logits.clone(), again = logits.clone();  // overwrite the logits
  for (std::int64_t row = 0; row < 4; ++row) {
    with_lanes(lanes, [&](auto& group) {
      T* of_row = data<T>(gradient) + row * classes;
      kernels::cross_entropy_row<N>(group, of_row, data<std::int64_t>(targets)[row], classes, 1.0F,
                                    data<float>(losses) + row, data<float>(sums) + row, of_row);
      group.sum(0);  // the first lane's sum is there
      T* once_more = data<T>(again) + row * classes;
      kernels::cross_entropy_row_backward<N>(group, once_more, data<std::int64_t>(targets)[row], classes,
                                             data<float>(sums)[row], 1.0F, once_more);
    });
  }
  check_close<float>(losses, reference.detach());
  check_close<float>(sums, at::logsumexp(logits.to(at::kDouble), {1}));
  check_close<T>(gradient, reference_logits.grad());
  check_close<T>(again, reference_logits.grad());
}

template <int N, typename T>
void check_rotary(const kernels::RotaryLayout& layout) {
  at::manual_seed(10);
  const std::int64_t half = layout.half, group = layout.turned + layout.passed;
  const at::Tensor row = random<T>({layout.groups, group, layout.head_dim}), angles = at::rand({half}) * 6;
  const at::Tensor cosines = angles.cos(), sines = angles.sin(), turned = at::empty_like(row);
  const auto turn = [&](const at::Tensor& from, float direction) {
    for (std::int64_t piece = 0; piece < kernels::rotary_pieces<N>(layout); ++piece)
      kernels::rotate_piece<N>(layout, data<T>(from), data<T>(turned), piece, data<float>(cosines),
                               data<float>(sines), direction);
  };
  turn(row, 1);
  const at::Tensor x = row.to(at::kDouble), expected = x.clone();
  const at::Tensor heads = x.narrow(1, 0, layout.turned), a = heads.narrow(2, 0, half),
                   b = heads.narrow(2, half, half);
  expected.narrow(1, 0, layout.turned).narrow(2, 0, half).copy_(a * cosines - b * sines);
  expected.narrow(1, 0, layout.turned).narrow(2, half, half).copy_(b * cosines + a * sines);
  check_close<T>(turned, expected);
  turn(turned, -1);
  check_close<T>(turned, x);
}

}  // namespace

TEMPLATE_TEST_CASE("kernel arithmetic: RMSNorm and its gradients", "", float, BFloat16) {
  for (const std::int64_t lanes : {1, 4}) {
    for (const std::int64_t width : {1, 3, 8, 64, 257}) {
      INFO(lanes << " lanes, width " << width);
      check_rms_norm<1, TestType>(lanes, width, 0);
      check_rms_norm<1, TestType>(lanes, width, 1);
      if (width % kernels::k_pack<TestType> == 0)
        check_rms_norm<kernels::k_pack<TestType>, TestType>(lanes, width, 1);
    }
  }
}

TEMPLATE_TEST_CASE("kernel arithmetic: RMSNorm of rows that lanes keep", "", float, BFloat16) {
  constexpr int k_pack = kernels::k_pack<TestType>;
  check_held_rms_norm<1, TestType>(1, 3);
  check_held_rms_norm<1, TestType>(5, 17);
  check_held_rms_norm<k_pack, TestType>(1, k_pack);
  check_held_rms_norm<k_pack, TestType>(5, 17 * k_pack);
  check_held_rms_norm<k_pack, TestType>(5, 20 * k_pack);
}

TEMPLATE_TEST_CASE("kernel arithmetic: cross-entropy and its gradient over the logits", "", float, BFloat16) {
  for (const std::int64_t lanes : {1, 4}) {
    for (const std::int64_t classes : {2, 3, 1000}) {
      INFO(lanes << " lanes, " << classes << " classes");
      check_cross_entropy<1, TestType>(lanes, classes);
      if (classes % kernels::k_pack<TestType> == 0)
        check_cross_entropy<kernels::k_pack<TestType>, TestType>(lanes, classes);
    }
  }
}

TEST_CASE("kernel arithmetic: large logits do not overflow, a target outside is no stray read") {
  kernels::OneLane lane;
  const std::vector<float> logits{1e30F, -1e30F, 1e30F};
  float loss = 0;
  kernels::cross_entropy_row(lane, logits.data(), 0, 3, 1.0F, &loss, nullptr, static_cast<float*>(nullptr));
  CHECK(loss == Approx(0.6931472));
  for (const std::int64_t outside :
       {std::int64_t{3}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    kernels::cross_entropy_row(lane, logits.data(), outside, 3, 1.0F, &loss, nullptr,
                               static_cast<float*>(nullptr));
    CHECK(std::isnan(loss));
  }
}

TEST_CASE("kernel arithmetic: logits of minus infinity add nothing, NaN stays") {
  constexpr float k_out = -std::numeric_limits<float>::infinity();
  const auto sum_of = [](const std::vector<float>& logits) {
    kernels::OneLane lane;
    const kernels::LogSumExp parts =
        kernels::log_sum_exp(lane, logits.data(), static_cast<std::int64_t>(logits.size()));
    return parts.highest + parts.rest;
  };
  CHECK(sum_of({k_out, 0, k_out, 0}) == Approx(0.6931472));
  CHECK(std::isnan(sum_of({k_out, std::numeric_limits<float>::quiet_NaN(), 0})));
}

TEST_CASE("kernel arithmetic: a row of a whole vocabulary loses nothing when packs are summed") {
  at::manual_seed(9);
  const std::int64_t classes = 128256;
  const at::Tensor logits = random<BFloat16>({classes});
  float loss = 0, sum = 0;
  kernels::OneLane lane;
  kernels::cross_entropy_row<kernels::k_pack<BFloat16>>(lane, data<BFloat16>(logits), 0, classes, 1.0F, &loss,
                                                        &sum, static_cast<BFloat16*>(nullptr));
  const double truth = at::logsumexp(logits.to(at::kDouble), {0}).item<double>();
  CHECK(std::abs(double{sum} - truth) < k_tolerance<float> * truth);
}

TEMPLATE_TEST_CASE("kernel arithmetic: rotary embedding turns and turns back, alone and in packs", "", float,
                   BFloat16) {
  check_rotary<1, TestType>({1, 2, 0, 32, 16});
  check_rotary<1, TestType>({2, 3, 1, 10, 3});
  check_rotary<kernels::k_pack<TestType>, TestType>({1, 2, 0, 32, 16});
  check_rotary<kernels::k_pack<TestType>, TestType>({2, 3, 1, 48, 16});
}

TEMPLATE_TEST_CASE("kernel arithmetic: SwiGLU and its gradients", "", float, BFloat16) {
  at::manual_seed(11);
  const at::Tensor gate = random<TestType>({200}) * 4, up = random<TestType>({200}),
                   dy = random<TestType>({200});
  const at::Tensor y = at::empty_like(gate), d_gate = at::empty_like(gate), d_up = at::empty_like(gate);
  for (std::int64_t i = 0; i < 200; ++i) {
    data<TestType>(y)[i] = kernels::swiglu(data<TestType>(gate)[i], data<TestType>(up)[i]);
    const auto gradients =
        kernels::swiglu_backward(data<TestType>(dy)[i], data<TestType>(gate)[i], data<TestType>(up)[i]);
    data<TestType>(d_gate)[i] = gradients.gate;
    data<TestType>(d_up)[i] = gradients.up;
  }
  const at::Tensor gate_reference = required(gate), up_reference = required(up);
  const at::Tensor reference = at::silu(gate_reference) * up_reference;
  reference.backward(dy.to(at::kDouble));
  check_close<TestType>(y, reference.detach());
  check_close<TestType>(d_gate, gate_reference.grad());
  check_close<TestType>(d_up, up_reference.grad());
}

TEST_CASE("kernel arithmetic: bfloat16 rounds as ATen does, NaN and infinity too") {
  at::manual_seed(12);
  at::Tensor values = at::randn({4096}) * at::pow(10.0, at::rand({4096}) * 60 - 30).to(at::kFloat);
  values[0] = std::numeric_limits<float>::quiet_NaN();
  values[1] = std::numeric_limits<float>::infinity();
  values[2] = std::numeric_limits<float>::denorm_min();
  values[3] = std::numeric_limits<float>::max();
  const at::Tensor rounded = values.to(at::kBFloat16);
  for (std::int64_t i = 1; i < 4096; ++i) {
    const auto own = kernels::from_float<BFloat16>(data<float>(values)[i]);
    if (own.bits != data<BFloat16>(rounded)[i].bits) FAIL(data<float>(values)[i]);
  }
  CHECK(std::isnan(kernels::to_float(kernels::from_float<BFloat16>(data<float>(values)[0]))));
}

}  // namespace shardlab::test

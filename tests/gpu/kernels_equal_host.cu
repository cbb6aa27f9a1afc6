// The launches on a device against the same arithmetic on the host, which other tests compare with ATen. Exit code 77 without a device.
#include <cmath>
#include <random>

#include "engine/kernels/add_rms_norm.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/lanes.h"
#include "engine/kernels/rotary.h"
#include "engine/kernels/squared_norm.h"
#include "engine/kernels/swiglu.h"
#include "tests/gpu/device_memory.cuh"

namespace {

using namespace shardlab::kernels;
using shardlab::test::DeviceArray;

int failures = 0;

template <typename T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(from_float<T>(normal(generator)));
  return values;
}

// Sums run in another order on a device: float32 differs by rounding, bfloat16 by one unit in the last place.
template <typename T>
void expect_close(const char* what, const std::vector<T>& made, const std::vector<T>& expected) {
  const double tolerance = sizeof(T) == 2 ? 8e-3 : 3e-6;
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    worst = std::max(worst, std::abs(double{to_float(made[i])} - double{to_float(expected[i])}));
    scale = std::max(scale, std::abs(double{to_float(expected[i])}));
  }
  const bool good = made.size() == expected.size() && worst <= tolerance * scale;
  failures += good ? 0 : 1;
  std::printf("%s %-28s worst difference %.2e of %.2e\n", good ? "good  " : "FAILED", what, worst, scale);
}

template <typename T>
void check_rms_norm(std::int64_t rows, std::int64_t width) {
  const auto x = random_values<T>(rows * width, 1), w = random_values<T>(width, 2), dy = random_values<T>(rows * width, 3);
  std::vector<T> y(x.size()), dx(x.size()), dw(width), residual = dy, sum(x.size()), added(x.size());
  std::vector<float> reciprocals(rows), ignored(rows);
  OneLane lane;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * width;
    rms_norm_row(lane, &x[at], w.data(), &y[at], &reciprocals[row], width, 1e-5F);
    rms_norm_row_backward(lane, &dy[at], &x[at], w.data(), reciprocals[row], &dx[at], width);
    add_rms_norm_row(lane, &x[at], &residual[at], w.data(), &sum[at], &added[at], &ignored[row], width, 1e-5F);
  }
  for (std::int64_t column = 0; column < width; ++column)
    dw[column] = from_float<T>(rms_norm_weight_gradient(dy.data(), x.data(), reciprocals.data(), 0, rows, column, width));

  DeviceArray<T> d_x(x), d_w(w), d_y(x.size()), d_dy(dy), d_dx(x.size()), d_dw(width), d_sum(residual), d_added(x.size());
  DeviceArray<float> d_reciprocals(rows), d_ignored(rows), d_parts(rms_norm_parts(rows) * width);
  launch_rms_norm(nullptr, d_x.get(), d_w.get(), d_y.get(), d_reciprocals.get(), rows, width, 1e-5F);
  launch_rms_norm_backward(nullptr, d_dy.get(), d_x.get(), d_w.get(), d_reciprocals.get(), d_dx.get(), d_parts.get(), rows, width);
  launch_sum_parts(nullptr, d_parts.get(), rms_norm_parts(rows), width, false, d_dw.get());
  launch_add_rms_norm(nullptr, d_x.get(), d_sum.get(), d_w.get(), d_sum.get(), d_added.get(), d_ignored.get(), rows, width, 1e-5F);
  expect_close("rms_norm", d_y.values(), y);
  expect_close("rms_norm reciprocals", d_reciprocals.values(), reciprocals);
  expect_close("rms_norm input gradient", d_dx.values(), dx);
  expect_close("rms_norm weight gradient", d_dw.values(), dw);
  expect_close("add_rms_norm", d_added.values(), added);
}

template <typename T>
void check_elements() {
  const std::int64_t batch = 2, sequence = 5, heads = 3, half = 16, count = batch * sequence * heads * half * 2;
  auto x = random_values<T>(count, 4);
  const auto cosines = random_values<float>(sequence * half, 5), sines = random_values<float>(sequence * half, 6);
  DeviceArray<T> d_x(x);
  DeviceArray<float> d_cosines(cosines), d_sines(sines);
  launch_rotary(nullptr, d_x.get(), d_cosines.get(), d_sines.get(), batch, sequence, heads, 2 * half, 1.0F);
  for (std::int64_t head = 0; head < batch * sequence * heads; ++head) {
    const std::int64_t row = head / heads % sequence * half;
    for (std::int64_t i = 0; i < half; ++i) rotate_pair(&x[head * 2 * half], i, half, cosines[row + i], sines[row + i], 1.0F);
  }
  expect_close("rotary", d_x.values(), x);

  const auto gate = random_values<T>(1000, 7), up = random_values<T>(1000, 8), dy = random_values<T>(1000, 9);
  std::vector<T> y(1000), d_gate(1000), d_up(1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    y[i] = swiglu(gate[i], up[i]);
    const auto gradients = swiglu_backward(dy[i], gate[i], up[i]);
    d_gate[i] = gradients.gate;
    d_up[i] = gradients.up;
  }
  DeviceArray<T> g(gate), u(up), d(dy), made(1000), made_gate(1000), made_up(1000);
  launch_swiglu(nullptr, g.get(), u.get(), made.get(), 1000);
  launch_swiglu_backward(nullptr, d.get(), g.get(), u.get(), made_gate.get(), made_up.get(), 1000);
  expect_close("swiglu", made.values(), y);
  expect_close("swiglu gate gradient", made_gate.values(), d_gate);
  expect_close("swiglu up gradient", made_up.values(), d_up);
}

template <typename T>
void check_cross_entropy(std::int64_t rows, std::int64_t classes) {
  auto logits = random_values<T>(rows * classes, 10);
  std::vector<std::int64_t> targets(rows);
  for (std::int64_t row = 0; row < rows; ++row) targets[row] = row == 1 ? k_ignored_target : row * 7 % classes;
  DeviceArray<T> d_logits(logits);
  DeviceArray<std::int64_t> d_targets(targets);
  DeviceArray<float> d_losses(rows);
  launch_cross_entropy(nullptr, d_logits.get(), d_targets.get(), rows, classes, 0.5F, d_losses.get(), d_logits.get());
  std::vector<float> losses(rows);
  OneLane lane;
  for (std::int64_t row = 0; row < rows; ++row) {
    T* of_row = &logits[row * classes];
    cross_entropy_row(lane, of_row, targets[row], classes, 0.5F, &losses[row], of_row);
  }
  expect_close("cross_entropy", d_losses.values(), losses);
  expect_close("cross_entropy gradient", d_logits.values(), logits);
}

template <typename P, typename G>
void check_optimizer(std::int64_t count) {
  auto parameters = random_values<P>(count, 11);
  auto gradients = random_values<G>(count, 12);
  std::vector<float> means(count), squares(count);
  DeviceArray<P> d_parameters(parameters);
  DeviceArray<G> d_gradients(gradients);
  DeviceArray<float> d_means(means), d_squares(squares), d_sum(std::vector<float>{0});
  launch_add_squares(nullptr, d_gradients.get(), count, d_sum.get());
  launch_clip(nullptr, d_gradients.get(), count, d_sum.get(), 1.0F);
  const AdamW rule = adamw(1e-2, 0.9, 0.95, 1e-8, 0.1, 1);
  launch_adamw(nullptr, rule, d_parameters.get(), d_gradients.get(), d_means.get(), d_squares.get(), count);
  double sum = 0;
  for (const G value : gradients) sum += double{to_float(value)} * to_float(value);
  const float factor = clip_factor(static_cast<float>(std::sqrt(sum)), 1.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    gradients[i] = clipped(gradients[i], factor);
    adamw_element(rule, parameters[i], gradients[i], means[i], squares[i]);
  }
  expect_close("sum of squares", d_sum.values(), {static_cast<float>(sum)});
  expect_close("clipped gradients", d_gradients.values(), gradients);
  expect_close("adamw parameters", d_parameters.values(), parameters);
}

void check_copies() {
  const auto source = random_values<float>(100000, 13);
  const std::vector<CopyRange> ranges{{50000, 0, 40000}, {0, 40000, 1}, {1, 45000, 49999}};
  const std::vector<std::int64_t> ends{40000, 40001, 90000};
  std::vector<BFloat16> expected(100000, BFloat16{0});
  for (const CopyRange& range : ranges) {
    for (std::int64_t i = 0; i < range.count; ++i) copy_element(range, i, source.data(), expected.data());
  }
  DeviceArray<float> d_source(source);
  DeviceArray<CopyRange> d_ranges(ranges);
  DeviceArray<std::int64_t> d_ends(ends);
  DeviceArray<BFloat16> made(std::vector<BFloat16>(100000, BFloat16{0}));
  launch_copy_ranges(nullptr, d_ranges.get(), d_ends.get(), 3, 90000, d_source.get(), made.get());
  expect_close("copies between layouts", made.values(), expected);
}

}  // namespace

int main() {
  shardlab::test::need_device();
  check_rms_norm<float>(300, 1027);
  check_rms_norm<BFloat16>(300, 4096);
  check_elements<float>();
  check_elements<BFloat16>();
  check_cross_entropy<float>(5, 1000);
  check_cross_entropy<BFloat16>(5, 128256);
  check_optimizer<float, float>(70001);
  check_optimizer<float, BFloat16>(70001);
  check_optimizer<BFloat16, BFloat16>(70001);
  check_copies();
  SHARDLAB_CUDA(cudaDeviceSynchronize());
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

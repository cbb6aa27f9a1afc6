// The launches on a device against the same arithmetic on the host, which other tests compare with ATen. Exit
// code 77 without a device.
#include <algorithm>
#include <cmath>
#include <random>

#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/cuda/launches.h"
#include "engine/kernels/lanes.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/rotary.h"
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

// 1 / sqrt(mean of squares + epsilon) of each row in double precision: added up one after another in float32,
// as the host does, the squares of 20480 numbers lose 5e-6 of it.
template <typename T>
std::vector<float> true_reciprocals(const std::vector<T>& x, std::int64_t width, double epsilon) {
  std::vector<float> reciprocals;
  for (auto row = x.begin(); row != x.end(); row += width) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += double{to_float(row[i])} * double{to_float(row[i])};
    reciprocals.push_back(static_cast<float>(1 / std::sqrt(sum / static_cast<double>(width) + epsilon)));
  }
  return reciprocals;
}

template <typename T>
void check_rms_norm(std::int64_t rows, std::int64_t width, float offset) {
  const auto x = random_values<T>(rows * width, 1), w = random_values<T>(width, 2),
             dy = random_values<T>(rows * width, 3);
  std::vector<T> y(x.size()), dx(x.size()), dw(width);
  std::vector<float> reciprocals(rows);
  OneLane lane;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * width;
    rms_norm_row(lane, &x[at], w.data(), &y[at], &reciprocals[row], width, 1e-5F, offset);
    rms_norm_row_backward(lane, &dy[at], &x[at], w.data(), reciprocals[row], &dx[at], width, offset);
  }
  for (std::int64_t column = 0; column < width; ++column)
    dw[column] = from_float<T>(
        rms_norm_weight_gradient(dy.data(), x.data(), reciprocals.data(), 0, rows, column, width).values[0]);

  DeviceArray<T> d_x(x), d_w(w), d_y(x.size()), d_dy(dy), d_dx(x.size()), d_dw(width);
  DeviceArray<float> d_reciprocals(rows), d_parts(rms_norm_parts(rows) * width);
  launch_rms_norm(nullptr, d_x.get(), d_w.get(), d_y.get(), d_reciprocals.get(), rows, width, 1e-5F, offset);
  launch_rms_norm_backward(nullptr, d_dy.get(), d_x.get(), d_w.get(), d_reciprocals.get(), d_dx.get(),
                           d_parts.get(), rows, width, offset);
  launch_sum_parts(nullptr, d_parts.get(), rms_norm_parts(rows), width, false, d_dw.get());
  expect_close("rms_norm", d_y.values(), y);
  expect_close("rms_norm reciprocals", d_reciprocals.values(), true_reciprocals(x, width, 1e-5));
  expect_close("rms_norm input gradient", d_dx.values(), dx);
  expect_close("rms_norm weight gradient", d_dw.values(), dw);
}

// Beyond one grid (2^16 blocks) and beyond 2^31 elements: rows that repeat, so that the host need not compute
// them all. 4.3 GB twice for bfloat16, if the device has them.
void check_many_rows(std::int64_t rows, std::int64_t width) {
  std::size_t free_bytes = 0, all_bytes = 0;
  SHARDLAB_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  const auto needed = static_cast<std::size_t>(rows * width) * sizeof(BFloat16) * 2;
  if (needed + (1U << 30) > free_bytes) {
    std::printf("skipped rms_norm of %lld x %lld: the device has %zu MiB free\n",
                static_cast<long long>(rows), static_cast<long long>(width), free_bytes >> 20U);
    return;
  }
  constexpr std::int64_t k_repeat = 1024;
  const auto x = random_values<BFloat16>(k_repeat * width, 21), w = random_values<BFloat16>(width, 22);
  DeviceArray<BFloat16> d_x(static_cast<std::size_t>(rows * width)), d_w(w),
      d_y(static_cast<std::size_t>(rows * width)), d_dw(width);
  DeviceArray<float> d_reciprocals(rows), d_parts(rms_norm_parts(rows) * width);
  for (std::int64_t row = 0; row < rows; row += k_repeat) {
    const std::int64_t count = std::min(k_repeat, rows - row) * width;
    SHARDLAB_CUDA(
        cudaMemcpy(d_x.get() + row * width, x.data(), count * sizeof(BFloat16), cudaMemcpyHostToDevice));
  }
  launch_rms_norm(nullptr, d_x.get(), d_w.get(), d_y.get(), d_reciprocals.get(), rows, width, 1e-5F);
  // The gradient of the weight with dy = x: the sum over rows of x * x * r.
  launch_rms_norm_backward(nullptr, d_x.get(), d_x.get(), d_w.get(), d_reciprocals.get(),
                           static_cast<BFloat16*>(nullptr), d_parts.get(), rows, width);
  launch_sum_parts(nullptr, d_parts.get(), rms_norm_parts(rows), width, false, d_dw.get());
  std::vector<BFloat16> y(width), last(width), dw(width);
  std::vector<double> sums(width);
  std::vector<float> reciprocals(1);
  OneLane lane;
  for (std::int64_t row = 0; row < k_repeat; ++row) {
    rms_norm_row(lane, &x[row * width], w.data(), y.data(), reciprocals.data(), width, 1e-5F, 0.0F);
    const std::int64_t times = rows / k_repeat + (row < rows % k_repeat ? 1 : 0);
    for (std::int64_t i = 0; i < width; ++i) {
      const double value = to_float(x[row * width + i]);
      sums[i] += static_cast<double>(times) * value * value * reciprocals[0];
    }
  }
  for (std::int64_t i = 0; i < width; ++i) dw[i] = from_float<BFloat16>(static_cast<float>(sums[i]));
  const std::int64_t row = (rows - 1) % k_repeat;
  rms_norm_row(lane, &x[row * width], w.data(), y.data(), reciprocals.data(), width, 1e-5F, 0.0F);
  SHARDLAB_CUDA(cudaMemcpy(last.data(), d_y.get() + (rows - 1) * width, width * sizeof(BFloat16),
                           cudaMemcpyDeviceToHost));
  expect_close("rms_norm, last of many rows", last, y);
  expect_close("rms_norm weight, many rows", d_dw.values(), dw);
}

template <typename T>
void check_rotary(const RotaryLayout& layout) {
  const std::int64_t batch = 2, sequence = 5, rows = batch * sequence;
  const std::int64_t width = layout.groups * (layout.turned + layout.passed) * layout.head_dim;
  const auto x = random_values<T>(rows * width, 4);
  const auto cosines = random_values<float>(sequence * layout.half, 5),
             sines = random_values<float>(sequence * layout.half, 6);
  std::vector<T> y(x.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row % sequence * layout.half;
    for (std::int64_t piece = 0; piece < rotary_pieces(layout); ++piece)
      rotate_piece(layout, &x[row * width], &y[row * width], piece, &cosines[at], &sines[at], -1.0F);
  }
  DeviceArray<T> d_x(x), d_y(x.size());
  DeviceArray<float> d_cosines(cosines), d_sines(sines);
  launch_rotary(nullptr, d_x.get(), d_y.get(), d_cosines.get(), d_sines.get(), layout, rows, sequence, -1.0F);
  expect_close("rotary", d_y.values(), y);
  launch_rotary(nullptr, d_x.get(), d_x.get(), d_cosines.get(), d_sines.get(), layout, rows, sequence, -1.0F);
  expect_close("rotary in place", d_x.values(), y);
}

// Gate and up in tensors of their own, or in one whose rows hold both.
template <typename T>
void check_swiglu(bool packed, std::int64_t width) {
  const std::int64_t rows = 20, stride = packed ? 2 * width : width, up_at = packed ? width : 0;
  const auto gate = random_values<T>(rows * stride, 7),
             up = packed ? gate : random_values<T>(rows * stride, 8);
  const auto dy = random_values<T>(rows * width, 9);
  std::vector<T> y(dy.size()), d_gate(gate.size()), d_up(gate.size());
  for (std::int64_t i = 0; i < rows * width; ++i) {
    const std::int64_t at = i / width * stride + i % width;
    y[i] = swiglu(gate[at], up[at + up_at]);
    const auto gradients = swiglu_backward(dy[i], gate[at], up[at + up_at]);
    d_gate[at] = gradients.gate;
    (packed ? d_gate : d_up)[at + up_at] = gradients.up;
  }
  DeviceArray<T> g(gate), u(up), d(dy), made(dy.size()), made_gate(gate.size()),
      made_up(std::vector<T>(gate.size()));
  launch_swiglu(nullptr, g.get(), u.get() + up_at, made.get(), rows, width, stride);
  T* to_up = packed ? made_gate.get() + width : made_up.get();
  launch_swiglu_backward(nullptr, d.get(), g.get(), u.get() + up_at, made_gate.get(), to_up, rows, width,
                         stride);
  expect_close("swiglu", made.values(), y);
  expect_close("swiglu gate gradient", made_gate.values(), d_gate);
  expect_close("swiglu up gradient", made_up.values(), d_up);
  if (packed) return;
  DeviceArray<T> alone(dy.size());  // without the gate's gradient `up` need not be there
  launch_swiglu_backward(nullptr, d.get(), g.get(), static_cast<const T*>(nullptr), static_cast<T*>(nullptr),
                         alone.get(), rows, width, stride);
  expect_close("swiglu up gradient alone", alone.values(), d_up);
}

// Beyond 2^31 elements and beyond 2^16 rows in a grid's y: one value everywhere, and the last element is
// compared. 4.3 GB four times for bfloat16, if the device has them.
void check_many_elements() {
  constexpr std::int64_t k_width = 4096, k_rows = (std::int64_t{1} << 31) / k_width + 3;
  constexpr auto k_count = static_cast<std::size_t>(k_rows * k_width);
  std::size_t free_bytes = 0, all_bytes = 0;
  SHARDLAB_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
  if (4 * k_count * sizeof(BFloat16) + (1U << 30) > free_bytes) {
    std::printf("skipped 2^31 elements: the device has %zu MiB free\n", free_bytes >> 20U);
    return;
  }
  DeviceArray<BFloat16> both(2 * k_count), y(k_count), up(k_count);
  SHARDLAB_CUDA(cudaMemset(both.get(), 0x3f, 2 * k_count * sizeof(BFloat16)));
  SHARDLAB_CUDA(cudaMemset(up.get(), 0x3f, k_count * sizeof(BFloat16)));
  const BFloat16 value{0x3f3f};
  const auto last_is = [&](const char* what, BFloat16 expected) {
    std::vector<BFloat16> last(1);
    SHARDLAB_CUDA(cudaMemcpy(last.data(), y.get() + k_count - 1, sizeof(BFloat16), cudaMemcpyDeviceToHost));
    expect_close(what, last, {expected});
    SHARDLAB_CUDA(cudaMemset(y.get(), 0, k_count * sizeof(BFloat16)));
  };
  launch_swiglu(nullptr, both.get(), up.get(), y.get(), k_rows, k_width, k_width);
  last_is("swiglu, many elements", swiglu(value, value));
  launch_swiglu(nullptr, both.get(), both.get() + k_width, y.get(), k_rows, k_width, 2 * k_width);
  last_is("swiglu, many packed rows", swiglu(value, value));
  DeviceArray<float> angles(std::vector<float>(64, 0.5F));
  launch_rotary(nullptr, up.get(), y.get(), angles.get(), angles.get(), {1, k_width / 128, 0, 128, 64},
                k_rows, 1, 1.0F);
  last_is("rotary, many elements", value);  // 0.5 of one and 0.5 of the other
}

// log(sum(exp)) of a row and its loss in double precision.
struct Truth {
  std::vector<float> losses, sums;
};

template <typename T>
Truth true_cross_entropy(const std::vector<T>& logits, const std::vector<std::int64_t>& targets,
                         std::int64_t classes) {
  Truth truth;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const T* of_row = &logits[row * classes];
    double sum = 0;
    for (std::int64_t i = 0; i < classes; ++i) sum += std::exp(double{to_float(of_row[i])});
    truth.sums.push_back(static_cast<float>(std::log(sum)));
    const bool ignored = targets[row] == k_ignored_target;
    truth.losses.push_back(
        ignored ? 0.0F : static_cast<float>(std::log(sum) - double{to_float(of_row[targets[row]])}));
  }
  return truth;
}

// N elements at a time on the host, in packs where the device has them.
template <int N, typename T>
void check_cross_entropy(std::int64_t rows, std::int64_t classes) {
  auto logits = random_values<T>(rows * classes, 10);
  std::vector<std::int64_t> targets(rows);
  for (std::int64_t row = 0; row < rows; ++row)
    targets[row] = row == 1 ? k_ignored_target : row * 7 % classes;
  const Truth truth = true_cross_entropy(logits, targets, classes);
  DeviceArray<T> d_logits(logits), d_gradient(logits.size());
  DeviceArray<std::int64_t> d_targets(targets);
  DeviceArray<float> d_losses(rows), d_sums(rows);
  std::vector<float> losses(rows), sums(rows);
  launch_cross_entropy(nullptr, d_logits.get(), d_targets.get(), rows, classes, 0.5F, d_losses.get(),
                       d_sums.get(), d_gradient.get());
  launch_cross_entropy_backward(nullptr, d_logits.get(), d_targets.get(), d_sums.get(), rows, classes, 0.5F,
                                d_logits.get());
  OneLane lane;
  for (std::int64_t row = 0; row < rows; ++row) {
    T* of_row = &logits[row * classes];
    cross_entropy_row<N>(lane, of_row, targets[row], classes, 0.5F, &losses[row], &sums[row], of_row);
  }
  expect_close("cross_entropy", d_losses.values(), truth.losses);
  expect_close("cross_entropy sums", d_sums.values(), truth.sums);
  expect_close("cross_entropy, host", losses, truth.losses);
  expect_close("cross_entropy sums, host", sums, truth.sums);
  expect_close("cross_entropy gradient", d_gradient.values(), logits);
  expect_close("cross_entropy backward", d_logits.values(), logits);
}

}  // namespace

int main() {
  shardlab::test::need_device();
  check_rms_norm<float>(300, 1027, 0.0F);
  check_rms_norm<float>(300, 256, 1.0F);
  check_rms_norm<BFloat16>(300, 4096, 0.0F);
  check_rms_norm<BFloat16>(1000, 128, 0.0F);  // a warp a row: the norms of queries and keys
  check_rms_norm<float>(1000, 100, 1.0F);
  for (const std::int64_t width :
       {1024, 2880, 5120, 16384, 20480})  // with registers that are full, and without
    check_rms_norm<BFloat16>(7, width, 1.0F);
  check_many_rows(100'000, 64);
  check_many_rows(9'000'000, 128);
  check_many_rows((std::int64_t{1} << 31) / 4096 + 3, 4096);
  for (const RotaryLayout& layout :
       {RotaryLayout{1, 3, 0, 32, 16}, RotaryLayout{2, 3, 1, 10, 3}, RotaryLayout{2, 3, 1, 48, 16},
        RotaryLayout{1, 32, 0, 128, 64}, RotaryLayout{3, 5, 2, 128, 64}, RotaryLayout{1, 2, 0, 1100, 530}}) {
    check_rotary<float>(layout);
    check_rotary<BFloat16>(layout);
  }
  for (const bool packed : {false, true}) {
    for (const std::int64_t width : {50, 64, 4104, 10000}) {
      check_swiglu<float>(packed, width);
      check_swiglu<BFloat16>(packed, width);
    }
  }
  check_many_elements();
  check_cross_entropy<k_pack<float>, float>(5, 1000);
  check_cross_entropy<1, BFloat16>(5, 1001);
  check_cross_entropy<k_pack<BFloat16>, BFloat16>(5, 128256);
  SHARDLAB_CUDA(cudaDeviceSynchronize());
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

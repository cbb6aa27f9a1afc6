// What share of the device's copy bandwidth each kernel reaches, at 64 MiB and above (target: 80 %). Prints;
// exit code 77 without a device. Bytes count each operand once.
#include <algorithm>
#include <functional>

#include "engine/kernels/cuda/launches.h"
#include "tests/gpu/device_memory.cuh"

namespace {

using namespace shardlab::kernels;
using shardlab::test::DeviceArray;

constexpr double k_target = 0.8;
constexpr int k_rounds = 20;

// Bytes a second of the median round.
double bandwidth(double bytes, const std::function<void()>& launch) {
  cudaEvent_t begin, end;
  SHARDLAB_CUDA(cudaEventCreate(&begin));
  SHARDLAB_CUDA(cudaEventCreate(&end));
  std::vector<double> rates;
  for (int round = -3; round < k_rounds; ++round) {  // three to warm up
    SHARDLAB_CUDA(cudaEventRecord(begin));
    launch();
    SHARDLAB_CUDA(cudaEventRecord(end));
    SHARDLAB_CUDA(cudaEventSynchronize(end));
    float milliseconds = 0;
    SHARDLAB_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    if (round >= 0) rates.push_back(bytes / (double{milliseconds} * 1e-3));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(rates.begin(), rates.begin() + k_rounds / 2, rates.end());
  return rates[k_rounds / 2];
}

void measure(std::int64_t bytes) {
  const std::int64_t width = 4096, count = bytes / 2, rows = count / width;  // bfloat16
  DeviceArray<BFloat16> a(count), b(count), c(count), d(count), e(count), w(width);
  DeviceArray<float> reciprocals(rows);
  for (BFloat16* memory : {a.get(), b.get(), c.get(), d.get(), e.get()})
    SHARDLAB_CUDA(cudaMemset(memory, 0, static_cast<std::size_t>(bytes)));
  const auto size = static_cast<double>(bytes);
  const double copy = bandwidth(2 * size, [&] {
    SHARDLAB_CUDA(
        cudaMemcpyAsync(b.get(), a.get(), static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice));
  });
  std::printf("%lld MiB of bfloat16: copy %.0f GB/s\n", static_cast<long long>(bytes >> 20), copy / 1e9);
  const auto show = [&](const char* name, double moved, const std::function<void()>& launch) {
    const double rate = bandwidth(moved, launch);
    std::printf("  %-20s %6.0f GB/s  %5.1f %% of copy (target %.0f %%)%s\n", name, rate / 1e9,
                100 * rate / copy, 100 * k_target, rate < k_target * copy ? "  below" : "");
  };
  show("rms_norm", 2 * size,
       [&] { launch_rms_norm(nullptr, a.get(), w.get(), b.get(), reciprocals.get(), rows, width, 1e-5F); });
  show("rms_norm backward", 3 * size, [&] {
    launch_rms_norm_backward(nullptr, a.get(), b.get(), w.get(), reciprocals.get(), c.get(), nullptr, rows,
                             width);
  });
  show("swiglu", 3 * size, [&] { launch_swiglu(nullptr, a.get(), b.get(), c.get(), rows, width, width); });
  show("swiglu backward", 5 * size, [&] {
    launch_swiglu_backward(nullptr, a.get(), b.get(), c.get(), d.get(), e.get(), rows, width, width);
  });
  DeviceArray<float> angles(rows * width / 256);
  SHARDLAB_CUDA(cudaMemset(angles.get(), 0, angles.size() * sizeof(float)));
  show("rotary", 2 * size, [&] {
    launch_rotary(nullptr, a.get(), b.get(), angles.get(), angles.get(), {1, width / 128, 0, 128, 64}, rows,
                  rows / 8, 1.0F);
  });
  const std::int64_t classes = 128256, tokens = count / classes;
  DeviceArray<std::int64_t> targets(std::vector<std::int64_t>(static_cast<std::size_t>(tokens)));
  DeviceArray<float> losses(tokens), sums(tokens);
  const auto of_logits = static_cast<double>(tokens * classes * 2);
  show("cross_entropy", 2 * of_logits, [&] {  // reads the logits a second time for the gradient
    launch_cross_entropy(nullptr, a.get(), targets.get(), tokens, classes, 1.0F, losses.get(), sums.get(),
                         b.get());
  });
}

}  // namespace

int main() {
  shardlab::test::need_device();
  for (const std::int64_t mebibytes : {64, 256, 1024}) measure(mebibytes << 20);
  SHARDLAB_CUDA(cudaDeviceSynchronize());
  return 0;
}

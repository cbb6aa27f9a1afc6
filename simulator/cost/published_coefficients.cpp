#include <algorithm>

#include "simulator/cost/coefficients.h"

namespace shardlab {
namespace {

// Where nobody states a rate for a dtype, another one, then a token one: a prediction must not divide by
// zero. A GPU without bfloat16 units computes it as float32; a processor's float16 is as fast as its
// bfloat16.
FlopsPerSecond rate_of(const DevicePeaks& rates, DType dtype) {
  const auto& other = dtype == DType::float16 ? rates.bfloat16 : rates.float32;
  for (const auto& rate : {rates.of(dtype), other, rates.float32, rates.bfloat16, rates.float16}) {
    if (rate && rate->value > 0) return *rate;
  }
  return {1e9};
}

DtypeCoefficients compute_of(const Device& device, DType dtype, BytesPerSecond bandwidth,
                             double overhead_ns) {
  DtypeCoefficients coefficients;
  coefficients.matmul.fill({rate_of(device.gemm, dtype), device.gemm_k_half, bandwidth, overhead_ns, {}});
  coefficients.attention.fill(
      {rate_of(device.attention, dtype), device.attention_sequence_half, overhead_ns, {}});
  return coefficients;
}

}  // namespace

CostCoefficients published_coefficients(const Device& device) {
  const bool cpu = device.kind == DeviceKind::cpu;
  const double overhead_ns = (cpu ? device.kernel_launch_seconds : device.kernel_gap_seconds) * 1e9;
  const BytesPerSecond bandwidth{std::max(device.memory_bandwidth.value * device.memory_efficiency, 1.0)};
  CostCoefficients coefficients;
  coefficients.counts_pieces = cpu;
  coefficients.float32 = compute_of(device, DType::float32, bandwidth, overhead_ns);
  coefficients.bfloat16 = compute_of(device, DType::bfloat16, bandwidth, overhead_ns);
  coefficients.float16 = compute_of(device, DType::float16, bandwidth, overhead_ns);
  coefficients.memory = {bandwidth, overhead_ns, {}};
  coefficients.host = {device.instruction_seconds * 1e9, device.instruction_seconds * 1e9,
                       cpu ? 0 : device.kernel_launch_seconds * 1e9};
  coefficients.contention = published_contention(device);
  coefficients.host_link = published_host_link(device);
  coefficients.host_work = published_host_work(device);
  return coefficients;
}

const TrafficCoefficients& CostCoefficients::traffic_of(std::string_view name) const {
  const auto found = traffic.find(name);
  return found == traffic.end() ? memory : found->second;
}

std::string traffic_name(std::string_view operation, Direction direction, DType dtype) {
  std::string name(operation);
  name += direction == Direction::forward ? ".forward." : ".backward.";
  return name += to_string(dtype);
}

}  // namespace shardlab

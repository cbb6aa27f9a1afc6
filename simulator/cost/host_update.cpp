#include "simulator/cost/host_update.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

BytesPerSecond rate_of(bool fused, const HostWorkCoefficients& c) {
  const double of_cores = (fused ? c.fused : c.kernels).value * c.cores;
  return {std::max(std::min(of_cores, c.memory.value), 1.0)};
}

}  // namespace

HostWorkCoefficients published_host_work(const Device& device) {
  return {device.host.cores, device.host.fused_bandwidth, device.host.kernels_bandwidth,
          device.host.memory_bandwidth};
}

double host_work_ns(Bytes traffic, bool fused, const HostWorkCoefficients& c) {
  return static_cast<double>(traffic.value) / rate_of(fused, c).value * 1e9;
}

CostBreakdown explain_host_work(Bytes traffic, bool fused, const HostWorkCoefficients& c) {
  return {host_work_ns(traffic, fused, c),
          "processors of the host",
          fmt::format("{} / min({} * {}, {})", bytes_text(static_cast<double>(traffic.value)), c.cores,
                      rate_text(fused ? c.fused : c.kernels), rate_text(c.memory)),
          {}};
}

}  // namespace shardlab

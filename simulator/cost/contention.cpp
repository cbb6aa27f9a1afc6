#include "simulator/cost/contention.h"

#include <algorithm>

#include <fmt/format.h>

namespace shardlab {
namespace {

constexpr double k_ring_channels = 24;
constexpr double k_residual_penalty = 0.15;

}  // namespace

ContentionFactors published_contention(const Device& device) {
  if (device.kind == DeviceKind::cpu) {
    const double shared = 1 / (1 + device.overlap_penalty);
    return {shared, shared};
  }
  const double residual = 1 / (1 + k_residual_penalty);
  const double processors = std::max(device.multiprocessors, 1);
  return {residual * (1 - std::min(k_ring_channels, processors / 4) / processors), residual};
}

Contention to_contention(const ContentionFactors& factors) {
  return {contention_rate(factors.compute_beside_collective),
          contention_rate(factors.collective_beside_compute)};
}

ResourceShares shares_of_compute(DeviceKind device) {
  ResourceShares shares;
  if (device == DeviceKind::gpu) shares.add(SharedResource::multiprocessors, 1);
  return shares;
}

CostBreakdown explain_contention(const ContentionFactors& factors) {
  return {0,
          "contention",
          fmt::format("while both run: computing at {:.0f} %, communicating at {:.0f} % of the speed alone",
                      factors.compute_beside_collective * 100, factors.collective_beside_compute * 100),
          {}};
}

}  // namespace shardlab

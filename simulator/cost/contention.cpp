#include "simulator/cost/contention.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace shardlab {
namespace {

// The bytes that a resource carries in this time at its full rate.
double part(double bytes, double bytes_per_second, double nanoseconds) {
  return bytes_per_second > 0 && nanoseconds > 0 ? bytes / (bytes_per_second * nanoseconds * 1e-9) : 0;
}

}  // namespace

ContentionFactors published_contention(const Device& device) {
  if (device.kind == DeviceKind::gpu) return {};
  const double shared = 1 / (1 + device.overlap_penalty);
  return {shared, shared, {}};
}

ResourceShares shares_of_compute(DeviceKind device, bool moves_memory) {
  ResourceShares shares;
  if (device != DeviceKind::gpu) return shares;
  shares.add(SharedResource::multiprocessors, 1);
  if (moves_memory) shares.add(SharedResource::memory, 1);
  return shares;
}

ResourceShares shares_of_collective(const Device& device, const TransferTime& time, double nanoseconds,
                                    const ContentionFactors& factors) {
  const CollectiveFigures& figures = device.network.collectives;
  const double sent = time.link_bytes + time.network_bytes;
  const double link = part(time.link_bytes, device.wires.ring.value, nanoseconds);
  const double rail = device.wires.network_per_rank.value * device.wires.network_efficiency;
  const double network = part(time.network_bytes, rail, nanoseconds);
  const double memory = device.memory_bandwidth.value * device.memory_efficiency;
  const double channels = static_cast<double>(time.channels) / std::max(device.multiprocessors, 1);
  const double held = factors.lost_to_channels
                          ? *factors.lost_to_channels * time.channels / std::max(time.most_channels, 1)
                          : std::min(channels, figures.most_channels) +
                                figures.overlap_loss * std::min(std::max(link, network), 1.0);
  ResourceShares shares;
  shares.hold(SharedResource::multiprocessors, held);
  shares.add(SharedResource::memory, part(sent * figures.memory_passes, memory, nanoseconds));
  shares.add(SharedResource::node_link, link);
  shares.add(SharedResource::network, network);
  return shares;
}

Contention to_contention(const ContentionFactors& factors) {
  return {contention_rate(factors.compute_beside_collective),
          contention_rate(factors.collective_beside_compute)};
}

CostBreakdown explain_contention(const ContentionFactors& factors, const ResourceShares& shares) {
  std::string text;
  if (factors.compute_beside_collective < 1 || factors.collective_beside_compute < 1) {
    text = fmt::format("while both run: computing at {:.0f} %, communicating at {:.0f} % of the speed alone",
                       factors.compute_beside_collective * 100, factors.collective_beside_compute * 100);
  }
  for (const auto& resource : k_words<SharedResource>) {
    const double share = shares.of(resource.value);
    if (share <= 0) continue;
    text += fmt::format("{}{:.3g} % of the {}", text.empty() ? "takes " : ", ", share * 100, resource.text);
  }
  return {0, "sharing", text.empty() ? "shares nothing" : std::move(text), {}};
}

}  // namespace shardlab

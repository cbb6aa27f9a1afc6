#include "simulator/cost/host_link.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

bool is_pageable(const SpacePair& way) {
  return way.from == MemorySpace::pageable_host || way.to == MemorySpace::pageable_host;
}

bool goes_to_device(const SpacePair& way) {
  return way.to == MemorySpace::device;
}

}  // namespace

HostLinkCoefficients published_host_link(const Device& device) {
  return {device.host_to_device,          device.device_to_host,          device.host.memory_bandwidth,
          device.host.pageable_bandwidth, device.host.copy_seconds * 1e9, device.host.link_is_shared};
}

BytesPerSecond bandwidth_of(const HostCopy& copy, const HostLinkCoefficients& c) {
  double rate = std::min((goes_to_device(copy.way) ? c.to_device : c.to_host).value, c.memory.value);
  if (is_pageable(copy.way)) rate = std::min(rate, c.pageable.value);
  return {std::max(rate, 1.0)};
}

double host_link_ns(const HostCopy& copy, const HostLinkCoefficients& c) {
  return static_cast<double>(copy.copies) * c.copy_ns +
         static_cast<double>(copy.bytes.value) / bandwidth_of(copy, c).value * 1e9;
}

ResourceShares shares_of_copy(const HostCopy& copy, const HostLinkCoefficients& c) {
  const bool in = goes_to_device(copy.way);
  ResourceShares shares;
  // The part of the link that this copy keeps busy: another of the same direction has the rest.
  const double link = std::max((in ? c.to_device : c.to_host).value, 1.0);
  const double part = bandwidth_of(copy, c).value / link;
  if (in || c.shared) shares.add(SharedResource::link_from_host, part);
  if (!in || c.shared) shares.add(SharedResource::link_to_host, part);
  return shares;
}

CostBreakdown explain_host_link(const HostCopy& copy, const HostLinkCoefficients& c) {
  std::string formula =
      fmt::format("{} * {} + {} / {}", copy.copies, time_text(c.copy_ns),
                  bytes_text(static_cast<double>(copy.bytes.value)), rate_text(bandwidth_of(copy, c)));
  return {host_link_ns(copy, c),
          fmt::format("link {} to {}", to_string(copy.way.from), to_string(copy.way.to)),
          std::move(formula),
          {}};
}

}  // namespace shardlab

// Time of a copy between a GPU and host memory.
//
//   t = copies * overhead + bytes / bandwidth
//
// `bandwidth`: of the link in this direction, or of a rank's part of the host's memory, or, for memory that
// is not page-locked, of the driver's staging, whichever is least. Copies of one direction share the link,
// those of both do where it is one (NVLink-C2C).
#pragma once

#include <cstdint>

#include "engine/hardware/device.h"
#include "engine/plan/transfers.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shared_resources.h"

namespace shardlab {

struct HostLinkCoefficients {
  BytesPerSecond to_device, to_host;  // page-locked memory, alone
  BytesPerSecond memory;              // a rank's part of the host's
  BytesPerSecond pageable;
  double copy_ns = 0;
  bool shared = false;  // by both directions
};
HostLinkCoefficients published_host_link(const Device& device);

struct HostCopy {
  SpacePair way;
  Bytes bytes;
  std::int64_t copies = 1;  // a tensor each
};

BytesPerSecond bandwidth_of(const HostCopy& copy, const HostLinkCoefficients& coefficients);
double host_link_ns(const HostCopy& copy, const HostLinkCoefficients& coefficients);
ResourceShares shares_of_copy(const HostCopy& copy, const HostLinkCoefficients& coefficients);
CostBreakdown explain_host_link(const HostCopy& copy, const HostLinkCoefficients& coefficients);

}  // namespace shardlab

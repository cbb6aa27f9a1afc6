// Time of a copy between page-locked memory and the drives of a node.
//
//   t = latency + bytes / bandwidth
//
// `bandwidth`: a rank's part of what the node's drives read, or write. A drive that reads and writes at once
// does each at half its speed: DeepNVMe's mixed rates are not known, and flash has one set of channels.
#pragma once

#include "engine/hardware/device.h"
#include "engine/plan/transfers.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shared_resources.h"

namespace shardlab {

struct DriveCoefficients {
  BytesPerSecond read, write;  // of one rank
  double transfer_ns = 0;
};
DriveCoefficients published_drive(const Device& device);

struct DriveTransfer {
  SpacePair way;
  Bytes bytes;
};

double drive_ns(const DriveTransfer& transfer, const DriveCoefficients& coefficients);
ResourceShares shares_of_drive();
CostBreakdown explain_drive(const DriveTransfer& transfer, const DriveCoefficients& coefficients);

}  // namespace shardlab

#include "simulator/cost/drive.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

BytesPerSecond rate_of(const DriveTransfer& transfer, const DriveCoefficients& c) {
  const BytesPerSecond rate = transfer.way.from == MemorySpace::disk ? c.read : c.write;
  return {std::max(rate.value, 1.0)};
}

}  // namespace

DriveCoefficients published_drive(const Device& device) {
  return {device.drive_read, device.drive_write, device.drive_seconds * 1e9};
}

double drive_ns(const DriveTransfer& transfer, const DriveCoefficients& c) {
  return c.transfer_ns + static_cast<double>(transfer.bytes.value) / rate_of(transfer, c).value * 1e9;
}

ResourceShares shares_of_drive() {
  ResourceShares shares;
  shares.add(SharedResource::drive, 1);
  return shares;
}

CostBreakdown explain_drive(const DriveTransfer& transfer, const DriveCoefficients& c) {
  std::string formula =
      fmt::format("{} + {} / {}", time_text(c.transfer_ns),
                  bytes_text(static_cast<double>(transfer.bytes.value)), rate_text(rate_of(transfer, c)));
  const bool reads = transfer.way.from == MemorySpace::disk;
  return {
      drive_ns(transfer, c), reads ? "read from the drive" : "write to the drive", std::move(formula), {}};
}

}  // namespace shardlab

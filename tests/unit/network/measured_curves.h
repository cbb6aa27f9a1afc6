// Bus bandwidths that others measured, and how far predictions of them are off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/hardware/device.h"
#include "simulator/network/transfer_time.h"

namespace shardlab::test {

struct MeasuredPoint {
  std::int64_t bytes = 0;
  double bus = 0;  // 1e9 bytes a second, as nccl-tests counts it
};

struct MeasuredCurve {
  std::string name;
  Device device;
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool fitted = false;      // the shipped figures rest on it
  bool own_fabric = false;  // and so does what its kind of network adds to latency
  std::vector<MeasuredPoint> points;
};

// tests/data/network/measured_curves.yaml, in its order. Fails the test case where it cannot be read.
std::vector<MeasuredCurve> read_measured_curves();

double measured_us(const MeasuredCurve& curve, const MeasuredPoint& point);

// Predicted over measured bus bandwidth, less one, by point, with these figures.
std::vector<double> errors_of(const MeasuredCurve& curve, const CollectiveFigures& figures);

// How many points lie within what issue and reference ask: 10 % from 16 MiB, 40 % below.
struct WithinTargets {
  int large = 0, large_within = 0;
  int small = 0, small_within = 0;
  double worst_large = 0, worst_small = 0;
};
WithinTargets within_targets(const MeasuredCurve& curve, const std::vector<double>& errors);

}  // namespace shardlab::test

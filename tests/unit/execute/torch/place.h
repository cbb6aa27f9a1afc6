// Where operators run in a test, and what runs them there.
#pragma once

#include <c10/core/Device.h>

#include <string_view>
#include <vector>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab::test {

struct Place {
  std::string_view name = "on the host";
  c10::Device device = c10::kCPU;
  const OperatorImplementation* (*find)(std::string_view) = find_implementation;
  double slack = 1;  // of tolerances: sums in an order of the device's own
};

// All of this program: host_places.cpp, or tests/gpu/operators/cuda_places.cpp, which ends the program where
// there is no device.
std::vector<Place> all_places();

}  // namespace shardlab::test

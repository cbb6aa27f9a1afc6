// Clusters for tests of the network.
#pragma once

#include "engine/hardware/device.h"
#include "tests/catch.h"

namespace shardlab::test {

inline Device cluster(const char* node, int nodes) {
  ClusterRequest request;
  request.node = node;
  request.nodes = nodes;
  auto device = describe_device(request);
  REQUIRE_OK(device);
  return *std::move(device);
}

}  // namespace shardlab::test

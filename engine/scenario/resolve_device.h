// The device and the wires that a scenario's cluster stands for.
#pragma once

#include "engine/base/result.h"
#include "engine/hardware/device.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// From the published and estimated figures of assets/hardware; see hardware/device.h. bad_input for unknown
// names.
Result<Device> resolve_device(const ClusterSpec& cluster);
// The device of a scenario's cluster, for those who need not know what a cluster is.
Result<Device> resolve_device(const Scenario& scenario);

// Compute threads of a rank on processors; none on GPUs.
int host_threads(const ClusterSpec& cluster);

}  // namespace shardlab

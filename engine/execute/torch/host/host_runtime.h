// A rank's host, for scenarios that train on processors.
#pragma once

#include "engine/execute/torch/device_runtime.h"

namespace shardlab {

// A memory limit is one on the request's ledger, which then refuses what goes beyond.
std::unique_ptr<DeviceRuntime> make_host_runtime(const DeviceRequest& request);

}  // namespace shardlab

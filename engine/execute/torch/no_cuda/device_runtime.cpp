#include "engine/execute/torch/device_runtime.h"

namespace shardlab {

Result<std::unique_ptr<DeviceRuntime>> make_device_runtime(const DeviceRequest&) {
  return not_possible("cluster", "this build of shardlab has no CUDA, and the scenario asks for GPUs",
                      "build with the CUDA wheel of torch (SHARDLAB_WITH_CUDA=ON), or "
                      "--set 'cluster={device: cpu, ranks: 2}'");
}

}  // namespace shardlab

#include "engine/report/device_limits.h"

#include "engine/scenario/resolve_device.h"

namespace shardlab {

Result<DeviceLimits> device_limits(const PlannedScenario& planned) {
  SHARDLAB_TRY(const Device device, resolve_device(planned.scenario.cluster));
  DeviceLimits limits;
  limits.peak = device.peak(planned.graph.compute_dtype);
  if (device.memory.value > 0) limits.memory = device.memory;
  return limits;
}

}  // namespace shardlab

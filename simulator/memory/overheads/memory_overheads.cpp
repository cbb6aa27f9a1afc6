#include "simulator/memory/overheads/memory_overheads.h"

#include <utility>

#include "simulator/memory/overheads/overhead_rows.h"

namespace shardlab {

std::vector<MemoryOverhead> memory_overheads(const PlannedScenario& planned, const Device& device,
                                             const RuntimeMemory& runtime) {
  if (device.kind != DeviceKind::gpu) return {};
  const std::vector<PlannedCommunicator> communicators = communicators_of(planned, device);
  Overheads rows;
  const auto add = [&rows](Overheads more) {
    for (MemoryOverhead& row : more) rows.push_back(std::move(row));
  };
  add(context_overheads(device, runtime));
  add(cublas_overheads(planned, device, runtime));
  add(communication_overheads(planned, communicators, device, runtime));
  add(host_overheads(planned, communicators, device, runtime));
  return rows;
}

}  // namespace shardlab

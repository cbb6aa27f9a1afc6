// A node's host memory, of all its ranks: the processes, what NCCL keeps there, buffers of the plan.
#include <fmt/format.h>

#include <algorithm>

#include "simulator/memory/overheads/overhead_rows.h"

namespace shardlab {
namespace {

MemoryOverhead host_row(std::string name, Bytes of_rank, const Device& device, const std::string& what,
                        std::string source) {
  const Bytes bytes = of_rank * device.ranks_per_node;
  return {.name = std::move(name),
          .bytes = bytes,
          .low = bytes,
          .high = bytes,
          .where = OverheadPlace::host,
          .formula = fmt::format("{} x {}{}", device.ranks_per_node, to_string(of_rank), what),
          .source = std::move(source)};
}

Bytes plan_bytes(const PlannedScenario& planned, MemorySpace space) {
  Bytes most;
  for (const StepPlan* plan : planned.plan.all()) {
    Bytes sum;
    for (const Buffer& buffer : plan->buffers)
      if (buffer.space == space) sum += buffer.bytes();
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

Overheads host_overheads(const PlannedScenario& planned, const std::vector<Communicator>& communicators,
                         const Device& device, const RuntimeMemory& runtime) {
  Overheads rows = {host_row("processes", runtime.process, device,
                             ": Python with torch, without data and its loaders",
                             runtime.source("host.process"))};
  if (!communicators.empty() && device.cuda_capability > 0)
    rows.push_back(host_row("NCCL in host memory", nccl_host_bytes(communicators, device, runtime), device,
                            ": work queues, and buffers that GPUs do not hold",
                            "nccl 2.30.7 src/init.cc, src/transport/net.cc, src/transport/shm.cc"));
  for (const MemorySpace space : {MemorySpace::pinned_host, MemorySpace::pageable_host}) {
    const Bytes bytes = plan_bytes(planned, space);
    if (bytes.value > 0)
      rows.push_back(host_row(space == MemorySpace::pinned_host ? "pinned buffers" : "pageable buffers",
                              bytes, device, ": of the plan, all at once", "the plan"));
  }
  return rows;
}

}  // namespace shardlab

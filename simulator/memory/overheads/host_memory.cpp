// A node's host memory, of all its ranks: the processes, what NCCL keeps there, buffers of the plan.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "engine/plan/layout.h"
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

Bytes as_asked(const ModelGraph&, const Buffer& buffer) {
  return buffer.own_bytes();
}

// torch 2.11 (ATen/core/CachingHostAllocator.h) rounds each page-locked tensor up to a power of two: FSDP2's
// are the shards of single parameters, others one a buffer. A pool for a drive is locked as it is
// (DeepSpeed's new_cpu_locked_tensor).
Bytes as_pinned(const ModelGraph& graph, const Buffer& buffer) {
  if (buffer.within || buffer.role == BufferRole::staging) return buffer.own_bytes();
  const auto rounded = [&](std::int64_t elements) {
    const Bytes bytes = bytes_of(elements, buffer.dtype);
    return Bytes{static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(bytes.value)))};
  };
  if (buffer.layout != BufferLayout::row_shards) return rounded(buffer.elements);
  Bytes sum;
  for (const ParameterPiece& piece : make_layout(graph, buffer).pieces)
    sum += rounded(piece.shard_elements());
  return sum;
}

template <typename BytesOf>
Bytes plan_bytes(const PlannedScenario& planned, MemorySpace space, BytesOf&& bytes_of_buffer) {
  Bytes most;
  for (const StepPlan* plan : planned.plan.all()) {
    Bytes sum;
    for (const Buffer& buffer : plan->buffers)
      if (buffer.space == space) sum += bytes_of_buffer(planned.graph, buffer);
    most = std::max(most, sum);
  }
  return most;
}

// What is asked for, and what it takes; the first is the row's `low`.
MemoryOverhead pinned_row(const PlannedScenario& planned, Bytes asked, const Device& device) {
  const Bytes taken = plan_bytes(planned, MemorySpace::pinned_host, as_pinned);
  MemoryOverhead row =
      host_row("pinned buffers", taken, device,
               fmt::format(": {} of the plan, each tensor rounded up to a power of two", to_string(asked)),
               "torch 2.11 ATen/core/CachingHostAllocator.h");
  row.low = asked * device.ranks_per_node;
  return row;
}

}  // namespace

Overheads host_overheads(const PlannedScenario& planned,
                         const std::vector<PlannedCommunicator>& communicators, const Device& device,
                         const RuntimeMemory& runtime) {
  Overheads rows = {host_row("processes", runtime.process, device,
                             ": Python with torch, without data and its loaders",
                             runtime.source("host.process"))};
  if (!communicators.empty() && device.cuda_capability > 0)
    rows.push_back(host_row("NCCL in host memory", nccl_host_bytes(communicators, device, runtime), device,
                            ": work queues, and buffers that GPUs do not hold",
                            "nccl 2.30.7 src/init.cc, src/transport/net.cc, src/transport/shm.cc"));
  const Bytes pinned = plan_bytes(planned, MemorySpace::pinned_host, as_asked);
  if (pinned.value > 0) rows.push_back(pinned_row(planned, pinned, device));
  const Bytes pageable = plan_bytes(planned, MemorySpace::pageable_host, as_asked);
  if (pageable.value > 0)
    rows.push_back(host_row("pageable buffers", pageable, device, ": of the plan, all at once", "the plan"));
  return rows;
}

}  // namespace shardlab

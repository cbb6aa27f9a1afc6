#include "simulator/memory/device_memory.h"

#include <fmt/format.h>

#include "engine/hardware/device.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {
namespace {

constexpr Bytes k_endless = {std::int64_t{1} << 50U};

Result<AllocatorOptions> options_of(const PlannedScenario& planned) {
  auto options = parse_allocator_options(planned.scenario.cluster->allocator_conf);
  if (options) return options;
  const Error& error = options.error();
  return bad_input("cluster.allocator.conf", fmt::format("{}: {}", to_string(error.place), error.what),
                   error.hint);
}

Result<AllocatorRunInputs> inputs_of(const PlannedScenario& planned, const DeviceOverheads& overheads) {
  SHARDLAB_TRY(const AllocatorOptions options, options_of(planned));
  const bool of_framework = planned.graph.implementation == Implementation::eager;
  return AllocatorRunInputs{planned,
                            options,
                            {k_endless, k_endless},
                            of_framework ? WhoseStorages::framework : WhoseStorages::executor,
                            overheads.blocks};
}

DeviceMemory figures_of(const AllocatorStatistics& statistics, const DeviceOverheads& overheads) {
  const auto peak = [](const PoolStats& stat) { return Bytes{stat.all.peak}; };
  DeviceMemory memory;
  memory.requested = peak(statistics.requested_bytes);
  memory.allocated = peak(statistics.allocated_bytes);
  memory.active = peak(statistics.active_bytes);
  memory.reserved = peak(statistics.reserved_bytes);
  memory.inactive_split = peak(statistics.inactive_split_bytes);
  memory.retries = statistics.num_alloc_retries;
  memory.device_peak = memory.reserved + overheads.beside;
  return memory;
}

}  // namespace

// A thread takes its workspace when it first multiplies: forward's thread before autograd's.
DeviceOverheads device_overheads(const std::vector<MemoryOverhead>& rows,
                                 const std::vector<LibraryAllocation>& blocks) {
  DeviceOverheads overheads;
  for (const MemoryOverhead& row : rows)
    if (row.where == OverheadPlace::device) overheads.beside += row.bytes;
  for (const LibraryAllocation& each : blocks)
    for (int i = 0; i < each.count; ++i) overheads.blocks.push_back({each.bytes, each.stream, i > 0});
  return overheads;
}

Result<DeviceMemory> simulate_device_memory(const PlannedScenario& planned, const Device& device,
                                            const DeviceOverheads& overheads,
                                            const std::vector<RunStep>& steps) {
  SHARDLAB_TRY(AllocatorRunInputs inputs, inputs_of(planned, overheads));
  const bool known = device.memory.value > 0;
  if (known) inputs.device.total = device.memory;
  SHARDLAB_TRY(const AllocatorRun wanted, run_allocator(inputs, steps));
  const DeviceMemory without_limit = figures_of(wanted.statistics, overheads);
  const Bytes available = device.memory - overheads.beside;
  if (!known || (without_limit.reserved <= available && !wanted.failed)) return without_limit;
  inputs.device.available = available;
  SHARDLAB_TRY(const AllocatorRun limited, run_allocator(inputs, steps));
  if (!limited.failed) return figures_of(limited.statistics, overheads);
  DeviceMemory memory = without_limit;
  memory.out_of_memory = 1;
  return memory;
}

Result<std::vector<MadeCall>> simulate_allocator_calls(const PlannedScenario& planned,
                                                       const DeviceOverheads& overheads,
                                                       const std::vector<RunStep>& steps) {
  SHARDLAB_TRY(AllocatorRunInputs inputs, inputs_of(planned, overheads));
  std::vector<MadeCall> calls;
  inputs.calls = &calls;
  SHARDLAB_CHECK_OK(run_allocator(inputs, steps));
  return calls;
}

}  // namespace shardlab

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

DeviceMemory figures_of(const AllocatorStatistics& statistics, const OutsideAllocator& outside) {
  const auto peak = [](const PoolStats& stat) { return Bytes{stat.all.peak}; };
  DeviceMemory memory;
  memory.requested = peak(statistics.requested_bytes);
  memory.allocated = peak(statistics.allocated_bytes);
  memory.active = peak(statistics.active_bytes);
  memory.reserved = peak(statistics.reserved_bytes);
  memory.inactive_split = peak(statistics.inactive_split_bytes);
  memory.retries = statistics.num_alloc_retries;
  memory.context = outside.context;
  memory.communication = outside.communication;
  memory.device_peak = memory.reserved + outside.context + outside.communication;
  return memory;
}

}  // namespace

Result<DeviceMemory> simulate_device_memory(const PlannedScenario& planned, const Device& device,
                                            const OutsideAllocator& outside,
                                            const std::vector<RunStep>& steps) {
  AllocatorRunInputs inputs{planned, {}, {}, WhoseStorages::framework, {}};
  SHARDLAB_TRY(inputs.options, options_of(planned));
  if (planned.graph.implementation != Implementation::eager) inputs.whose = WhoseStorages::executor;
  const bool known = device.memory.value > 0;
  inputs.device = {known ? device.memory : k_endless, k_endless};
  SHARDLAB_TRY(const AllocatorRun wanted, run_allocator(inputs, steps));
  const DeviceMemory without_limit = figures_of(wanted.statistics, outside);
  const Bytes available = device.memory - outside.context - outside.communication;
  if (!known || (without_limit.reserved <= available && !wanted.failed)) return without_limit;
  inputs.device.available = available;
  SHARDLAB_TRY(const AllocatorRun limited, run_allocator(inputs, steps));
  if (!limited.failed) return figures_of(limited.statistics, outside);
  DeviceMemory memory = without_limit;
  memory.out_of_memory = 1;
  return memory;
}

}  // namespace shardlab

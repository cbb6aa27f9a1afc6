#include "simulator/memory/predicted_device.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/hardware/device.h"
#include "engine/scenario/cluster_spec.h"
#include "simulator/memory/allocations/limited_runs.h"
#include "simulator/memory/fit_likelihood.h"

namespace shardlab {
namespace {

// More than any step holds (engine/planner/check_sizes.h).
constexpr Bytes k_endless = {std::int64_t{1} << 55U};

Result<AllocatorOptions> options_of(const PlannedScenario& planned) {
  auto options = parse_allocator_options(planned.scenario.cluster->allocator_conf);
  if (options) return options;
  const Error& error = options.error();
  return bad_input("cluster.allocator.conf", fmt::format("{}: {}", to_string(error.place), error.what),
                   error.hint);
}

Result<AllocatorRunInputs> inputs_of(const PlannedScenario& planned, const DeviceOverheads& overheads) {
  SHARDLAB_TRY(const AllocatorOptions options, options_of(planned));
  return AllocatorRunInputs{options, {k_endless, k_endless}, overheads.blocks};
}

Result<PreparedSteps> prepared(const PlannedScenario& planned, const std::vector<RunStep>& steps,
                               Bytes device = {}) {
  const bool of_framework = planned.graph.implementation == Implementation::eager;
  return prepare_steps(planned, steps, of_framework ? WhoseStorages::framework : WhoseStorages::executor,
                       device);
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
  for (const StandingBlock& block : overheads.blocks) memory.library_workspace += block.bytes;
  memory.device_peak = memory.reserved + overheads.beside;
  return memory;
}

class DeviceRuns {
 public:
  DeviceRuns(AllocatorRunInputs inputs, const PreparedSteps& steps, const DeviceOverheads& overheads)
      : runs_(std::move(inputs), steps), overheads_(overheads) {}

  PredictedDevice predict(std::optional<Bytes> limit, const MemoryErrors& errors) {
    const AllocatorRun& wanted = runs_.unlimited();
    PredictedDevice predicted{figures_of(wanted.statistics, overheads_), {}};
    free_ = predicted.memory;
    const std::vector<Bytes> beside = equally_likely(overheads_.low, overheads_.beside, overheads_.high);
    predicted.fit.low = sum_at_quantile(0.1, free_.reserved, errors, beside);
    predicted.fit.high = sum_at_quantile(0.9, free_.reserved, errors, beside);
    if (!limit) return predicted;
    const Bytes available = *limit - overheads_.beside;
    // Nobody needs less than what is asked for at once. What only waits for another stream (active and
    // requested, not allocated) the allocator gets back where it has to: it waits for that stream before it
    // asks again.
    Bytes fails = std::min(free_.requested, free_.allocated) - Bytes{1}, works = free_.reserved;
    if (available <= fails) {
      predicted.memory.out_of_memory = 1;
    } else if (available < works || wanted.failed) {
      const AllocatorRun limited = runs_.run_within(available);
      predicted.memory.out_of_memory = limited.failed ? 1 : 0;
      if (!limited.failed) predicted.memory = figures_of(limited.statistics, overheads_);
      (limited.failed ? fails : works) = available;
    }
    const auto likely = [&](Bytes need) { return likelihood(*limit, need, errors, beside); };
    const auto tried = [&](Bytes each) { return reserved_within(each); };
    predicted.fit.probability = likely(least_need(fails, works, likely, tried));
    return predicted;
  }

 private:
  std::optional<Bytes> reserved_within(Bytes available) {
    const FittingRun run = runs_.try_within(available);
    return run.fits ? std::optional(run.reserved) : std::nullopt;
  }

  LimitedRuns runs_;
  const DeviceOverheads& overheads_;
  DeviceMemory free_;  // what it takes where memory has no limit
};

void add(const MemoryOverhead& row, DeviceOverheads& overheads) {
  overheads.beside += row.bytes;
  overheads.low += row.low;
  overheads.high += row.high;
}

}  // namespace

// A thread takes its workspace when it first multiplies: forward's thread before autograd's.
DeviceOverheads device_overheads(const std::vector<MemoryOverhead>& rows,
                                 const std::vector<LibraryAllocation>& blocks) {
  DeviceOverheads overheads;
  for (const MemoryOverhead& row : rows)
    if (row.where == OverheadPlace::device) add(row, overheads);
  for (const LibraryAllocation& each : blocks)
    for (int i = 0; i < each.count; ++i) overheads.blocks.push_back({each.bytes, each.stream, i > 0});
  return overheads;
}

Result<PredictedDevice> simulate_device_memory(const PlannedScenario& planned, const Device& device,
                                               const DeviceOverheads& overheads,
                                               const std::vector<RunStep>& steps,
                                               const std::vector<double>& ratios) {
  SHARDLAB_TRY(AllocatorRunInputs inputs, inputs_of(planned, overheads));
  SHARDLAB_TRY(const PreparedSteps calls, prepared(planned, steps, device.memory));
  const bool known = device.memory.value > 0;
  if (known) inputs.device.total = device.memory;
  return DeviceRuns(inputs, calls, overheads)
      .predict(known ? std::optional(device.memory) : std::nullopt, MemoryErrors(ratios));
}

Result<bool> repeats_in_device_memory(const PlannedScenario& planned, const DeviceOverheads& overheads,
                                      const std::vector<RunStep>& steps) {
  SHARDLAB_TRY(const AllocatorRunInputs inputs, inputs_of(planned, overheads));
  SHARDLAB_TRY(const PreparedSteps calls, prepared(planned, steps));
  return repeats_by_micro_batch(inputs, calls);
}

Result<AllocatorCalls> simulate_allocator_calls(const PlannedScenario& planned,
                                                const DeviceOverheads& overheads,
                                                const std::vector<RunStep>& steps) {
  SHARDLAB_TRY(AllocatorRunInputs inputs, inputs_of(planned, overheads));
  AllocatorCalls made{planned.scenario.cluster->allocator_conf, {}};
  inputs.calls = &made.calls;
  SHARDLAB_TRY(const PreparedSteps calls, prepared(planned, steps));
  run_allocator(inputs, calls);
  return made;
}

}  // namespace shardlab

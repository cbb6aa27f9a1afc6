#include "simulator/memory/predicted_device.h"

#include <algorithm>
#include <utility>

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

// The sample at a quantile between 0 and 1 of sorted values, one of them.
double quantile(const std::vector<double>& sorted, double at) {
  return sorted[std::min(sorted.size() - 1,
                         static_cast<std::size_t>(at * static_cast<double>(sorted.size())))];
}

Bytes between(const DeviceOverheads& overheads, double at) {
  const Bytes lower = at < 0.5 ? overheads.low : overheads.beside;
  const Bytes upper = at < 0.5 ? overheads.beside : overheads.high;
  const double part = at < 0.5 ? at * 2 : at * 2 - 1;
  return lower + Bytes{static_cast<std::int64_t>(part * static_cast<double>((upper - lower).value))};
}

Bytes times(Bytes bytes, double factor) {
  return Bytes{static_cast<std::int64_t>(static_cast<double>(bytes.value) * factor)};
}

class DeviceRuns {
 public:
  DeviceRuns(AllocatorRunInputs inputs, const std::vector<RunStep>& steps, const DeviceOverheads& overheads)
      : inputs_(std::move(inputs)), steps_(steps), overheads_(overheads) {}

  Result<PredictedDevice> predict(std::optional<Bytes> limit, std::vector<double> ratios) {
    SHARDLAB_TRY(const AllocatorRun wanted, run_allocator(inputs_, steps_));
    PredictedDevice predicted{figures_of(wanted.statistics, overheads_), {}};
    free_ = predicted.memory;
    if (ratios.empty()) ratios = {1};
    std::sort(ratios.begin(), ratios.end());
    predicted.fit.low = times(free_.reserved, quantile(ratios, 0.1)) + between(overheads_, 0.1);
    predicted.fit.high = times(free_.reserved, quantile(ratios, 0.9)) + between(overheads_, 0.9);
    if (!limit) return predicted;
    SHARDLAB_TRY(predicted.fit.probability, probability(*limit, ratios));
    const Bytes available = *limit - overheads_.beside;
    if (free_.reserved <= available && !wanted.failed) return predicted;
    SHARDLAB_TRY(const AllocatorRun limited, run_within(available));
    if (limited.failed)
      predicted.memory.out_of_memory = 1;
    else
      predicted.memory = figures_of(limited.statistics, overheads_);
    return predicted;
  }

 private:
  Result<AllocatorRun> run_within(Bytes available) {
    inputs_.device.available = available;
    return run_allocator(inputs_, steps_);
  }

  Result<double> probability(Bytes limit, const std::vector<double>& ratios) {
    constexpr int k_samples = 9;
    int good = 0;
    for (int i = 0; i < k_samples; ++i) {
      const double at = (i + 0.5) / k_samples;
      SHARDLAB_TRY(const bool fits, works(times(limit - between(overheads_, at), 1 / quantile(ratios, at))));
      good += fits;
    }
    return static_cast<double>(good) / k_samples;
  }

  // Nobody needs less than what is alive at once. What only waits for another stream (active, not allocated)
  // the allocator gets back where it has to: it waits for that stream before it asks again.
  Result<bool> works(Bytes available) {
    if (free_.reserved <= available) return true;
    if (free_.allocated > available) return false;
    SHARDLAB_TRY(const AllocatorRun limited, run_within(available));
    return !limited.failed;
  }

  AllocatorRunInputs inputs_;
  const std::vector<RunStep>& steps_;
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
  const bool known = device.memory.value > 0;
  if (known) inputs.device.total = device.memory;
  return DeviceRuns(inputs, steps, overheads)
      .predict(known ? std::optional(device.memory) : std::nullopt, ratios);
}

Result<AllocatorCalls> simulate_allocator_calls(const PlannedScenario& planned,
                                                const DeviceOverheads& overheads,
                                                const std::vector<RunStep>& steps) {
  SHARDLAB_TRY(AllocatorRunInputs inputs, inputs_of(planned, overheads));
  AllocatorCalls made{planned.scenario.cluster->allocator_conf, {}};
  inputs.calls = &made.calls;
  SHARDLAB_CHECK_OK(run_allocator(inputs, steps));
  return made;
}

}  // namespace shardlab

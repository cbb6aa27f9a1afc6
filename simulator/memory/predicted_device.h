// What torch's caching allocator would reserve over a run's first steps, and what the device holds then.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/device_memory.h"
#include "engine/trace/fit_estimate.h"
#include "simulator/memory/allocations/allocator_run.h"
#include "simulator/memory/overheads/memory_overheads.h"

namespace shardlab {

struct Device;  // engine/hardware/device.h

// What a GPU holds beside the tensors of a plan (memory/overheads).
struct DeviceOverheads {
  Bytes beside, low, high;            // the allocator: context, communicators, and the range of their sum
  std::vector<StandingBlock> blocks;  // in the allocator: workspaces of libraries
};
DeviceOverheads device_overheads(const std::vector<MemoryOverhead>& rows,
                                 const std::vector<LibraryAllocation>& blocks);

struct PredictedDevice {
  DeviceMemory memory;
  FitEstimate fit;
};

// Figures of a rank, by torch's names. Where the device has less than the allocator would take, the run is
// followed again on what there is: if that works, with releases and retries, those are its figures. If it
// does not, they are what it would have needed, and out_of_memory is 1.
//
// `ratios`: real over predicted reserved memory of runs of which both are known (read_reserved_ratios), the
// errors that this prediction may have too (fit_likelihood.h). What the run needs at least is found by
// trying.
//
// Errors: bad_input at cluster.allocator.conf; internal where a plan does not fit together.
Result<PredictedDevice> simulate_device_memory(const PlannedScenario& planned, const Device& device,
                                               const DeviceOverheads& overheads,
                                               const std::vector<RunStep>& steps,
                                               const std::vector<double>& ratios);

// The calls behind these figures where memory has no limit, the setup first.
Result<AllocatorCalls> simulate_allocator_calls(const PlannedScenario& planned,
                                                const DeviceOverheads& overheads,
                                                const std::vector<RunStep>& steps);

// Whether micro-batches in the middle of a step leave the allocator of these figures as those before them did
// (repeats_by_micro_batch).
Result<bool> repeats_in_device_memory(const PlannedScenario& planned, const DeviceOverheads& overheads,
                                      const std::vector<RunStep>& steps);

}  // namespace shardlab

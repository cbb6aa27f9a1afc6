// What deepspeed.initialize takes on the device beside what it keeps. Private to this folder.
//
// Source: DeepSpeed 0.19.8. The engine moves a model to the device as it is (runtime/engine.py).
// - ZeRO-1 and ZeRO-2 (zero/stage_1_and_2.py) join all parameters to one flat vector beside them, where the
//   device has room for that, else in host memory; cut a copy of the rank's part, widen it, and make a
//   gradient of it that goes at once.
// - ZeRO-1 with float32 sums (bf16_optimizer.py) joins them, too, and copies the part twice.
// - ZeRO-3 (zero/partition_parameters.py, zero/stage3.py) has parameters whole one by one, cuts the rank's
//   part of each, and joins these by way of host memory, giving what is cached back to the driver; every
//   master is copied once more, and a gradient of the largest sub-group goes at once.
// - ZeRO-0 (fp16/unfused_optimizer.py) in 16 bits makes a step with gradients of zeros. Its states stay;
//   here the first step makes them again.
#pragma once

#include "engine/plan/planned_scenario.h"
#include "simulator/memory/allocations/allocation_list.h"

namespace shardlab {

// Whether this is the setup of a training by DeepSpeed.
bool is_zero_setup(const PlannedScenario& planned, const StepPlan& plan);

// Takes what passes, and what stays of weights and masters. `device`: its bytes; none: there is room.
void take_zero_setup(const PlannedScenario& planned, const StepPlan& setup, Bytes device,
                     AllocationList& list);

}  // namespace shardlab

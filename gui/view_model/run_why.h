// Why the figures of a run are what they are: of the whole run, of a moment of its memory, of an instruction.
//
// None of these is cheap (they walk the trace): made when somebody asks, not each frame.
#pragma once

#include <optional>
#include <string_view>

#include "engine/plan/planned_scenario.h"
#include "gui/view_model/loaded_run.h"
#include "gui/view_model/why.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab::view {

// Who took the numbers: "measured on 2 x ...", "simulated with published figures".
std::string source_of(const LoadedRun& run);

// Why a metric (metric_meaning.h) is what it is; absent for a name that is none or a figure that the run does
// not have. `planned`, where it is known, gives the tokens and FLOPs that rates are made of.
std::optional<Why> why_metric(const LoadedRun& run, std::string_view metric,
                              const PlannedScenario* planned = nullptr);

// Why an instruction took its time in a run: its spans; which waits held it back in the typical step.
Why why_time(const LoadedRun& run, InstructionId id);

// What the cost model says of an instruction: the term, its formula and their parts. `calibration` may be
// null.
Result<Why> why_cost(const PlannedScenario& planned, const Calibration* calibration, InstructionId id);

// What the memory was made of, by class, while an instruction was issued.
Why why_memory(const LoadedRun& run, const MemorySample& sample);

}  // namespace shardlab::view

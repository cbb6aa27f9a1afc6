// Which instruction of a plan a collective of a dump is.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/ids.h"
#include "engine/doctor/flight/flight_dump.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

// The instruction of the steady step at which the calls of the rank that end with collective `sequence` of
// the group are those of the plan, as far back as they go: kinds and bytes are compared, over the ends of
// steps. Nothing where no instruction fits, or several do as well. Collectives below a kibibyte (norms,
// losses) are left out on both sides, and so is what a plan has not (broadcasts of the setup).
std::optional<InstructionId> planned_collective(const StepPlan& plan, const FlightDump& dump,
                                                const std::string& group, std::int64_t sequence);

}  // namespace shardlab

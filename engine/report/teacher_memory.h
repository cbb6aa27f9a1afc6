// What of the memory at one instruction is the teacher's.
#pragma once

#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// The plan's buffers that are alive while the instruction of the steady step runs, those that it frees among
// them. `planned` has a teacher. What the teacher's operators hold within a Forward of its own is not in it.
TeacherMemory teacher_memory(const PlannedScenario& planned, InstructionId id);

}  // namespace shardlab

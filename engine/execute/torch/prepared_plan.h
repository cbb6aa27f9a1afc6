// A plan made ready to run: an action for each instruction, and the order of all on the queues of a backend.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/execute/streams/stream_schedule.h"
#include "engine/execute/torch/instructions/action.h"

namespace shardlab {

struct PreparedInstruction {
  std::unique_ptr<Action> action;  // null: nothing to do besides memory and waiting
  std::optional<Slot> guard;       // the flag that is not zero when the instruction is to be skipped
};

struct PreparedPlan {
  const StepPlan* plan = nullptr;
  std::vector<Slot> slots;  // by BufferId
  std::vector<PreparedInstruction> instructions;
  StreamSchedule schedule;  // for the queues of the run's backend
};

// Errors: not_possible for what a real run cannot do yet, an instruction or an operator; internal for a plan
// whose instructions lack what they need.
Result<PreparedPlan> prepare_plan(RunState& run, const StepPlan& plan);

}  // namespace shardlab

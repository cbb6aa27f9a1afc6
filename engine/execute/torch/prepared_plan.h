// A plan made ready to run: an action for each instruction, and what the host waits for before it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/execute/streams/stream_schedule.h"
#include "engine/execute/torch/instructions/action.h"

namespace shardlab {

struct PreparedInstruction {
  std::unique_ptr<Action> action;     // null: nothing to do besides memory and waiting
  bool background = false;            // a collective that runs in its communicator's thread
  std::vector<std::uint32_t> awaits;  // collectives of this step that must be done before it
  std::vector<Slot> allocates;        // empty when the action manages memory itself
  std::vector<Slot> frees;            // likewise
  std::optional<Slot> guard;          // the flag that is not zero when the instruction is to be skipped
};

struct PreparedPlan {
  const StepPlan* plan = nullptr;
  std::vector<Slot> slots;  // by BufferId
  std::vector<PreparedInstruction> instructions;
  StreamSchedule schedule;  // empty on the host
};

// On the host everything that is not a collective runs on the host thread when it is issued, so the only
// waits that remain are those for collectives: the plan's own, the order of streams, and those that still use
// what an instruction frees. Between collectives of one communicator their queue keeps the order.
Result<PreparedPlan> prepare_plan(RunState& run, const StepPlan& plan);

}  // namespace shardlab

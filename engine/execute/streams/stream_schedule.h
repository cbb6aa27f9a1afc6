// How a plan's order is kept on a device with queues: what each instruction waits for and signals.
//
// A pure function of the plan; everything is in terms of the plan's ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"

namespace shardlab {

struct FreedBuffer {
  BufferId buffer;
  // Streams other than the owner's that used it and that nothing orders before its reuse: the allocator must
  // wait for them itself (record_stream). Empty unless the Free is `recorded`.
  std::vector<StreamId> users;
};

struct ScheduledInstruction {
  StreamId stream;
  // Instructions on other streams whose events the stream waits for before this one; for a HostWait the host
  // does. What stands earlier on the same stream needs no event. A collective also waits for the one before
  // it of its group on another stream: members of a group must not run two at once.
  std::vector<InstructionId> waits;
  bool blocks_host = false;
  std::optional<std::uint32_t> taken_event;  // HostWait: in StepPlan::taken_events
  bool signals = false;                      // somebody waits for it, in this step or the next
  bool timed = false;                        // occupies the device
  std::vector<BufferId> allocates;           // around the instruction; what a segment's program manages is
  std::vector<FreedBuffer> frees;            // not here
};

struct StreamSchedule {
  const StepPlan* plan = nullptr;  // must outlive the schedule
  std::vector<ScheduledInstruction> instructions;
};

StreamSchedule schedule_streams(const StepPlan& plan);

}  // namespace shardlab

// How a plan's order is kept on a device with queues: what each instruction waits for and signals.
//
// A pure function of the plan and of how the device queues; everything is in terms of the plan's ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/execute/streams/stream_device.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

using ScheduleQueue = std::uint32_t;  // a position in StreamSchedule::queues

struct FreedBuffer {
  BufferId buffer;
  // Queues other than the owner's that used it and that nothing orders before its reuse: the allocator must
  // wait for them itself (record_stream). Empty unless the Free is `recorded`, and on a host, which waits for
  // the users before it frees.
  std::vector<ScheduleQueue> users;
};

struct ScheduledInstruction {
  ScheduleQueue queue = 0;
  // Instructions in other queues whose events the queue waits for before this one; for a HostWait the host
  // does. What stands earlier in the same queue needs no event. A collective also waits for the one before it
  // of its group in another queue: members of a group must not run two at once.
  std::vector<InstructionId> waits;
  bool blocks_host = false;
  std::optional<std::uint32_t> taken_event;  // HostWait: in StepPlan::taken_events
  bool signals = false;                      // somebody waits for it, in this step or the next
  bool timed = false;                        // occupies the device
  std::vector<BufferId> allocates;           // around the instruction; what a segment's program manages is
  std::vector<FreedBuffer> frees;            // not here
};

struct StreamSchedule {
  const StepPlan* plan = nullptr;              // must outlive the schedule
  std::vector<std::string> queues;             // names; the first is that of computation
  std::vector<ScheduleQueue> queue_of_stream;  // by StreamId: to which allocations of the stream belong
  std::vector<ScheduledInstruction> instructions;
};

// by_stream: queues are the plan's streams.
//
// on_host: the first queue is the host itself, the others are the groups of more than one rank, whose
// collectives run one after the other. Before an instruction the host waits for collectives that still run:
// those that the plan lets it wait for, the last one on its own stream, and those that use what it frees.
StreamSchedule schedule_streams(const StepPlan& plan, Queueing queueing = Queueing::by_stream);

}  // namespace shardlab

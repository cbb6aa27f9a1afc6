// Issues one step on a device: instruction by instruction in host order, each to its queue, with its waits.
//
// On a device with queues by stream nothing here blocks the host unless the plan says so (HostWait). What an
// instruction does, and where memory comes from, is the StepBody's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/execute/streams/jitter.h"
#include "engine/execute/streams/stream_device.h"
#include "engine/execute/streams/stream_schedule.h"

namespace shardlab {

// Called by the issuer while the instruction's queue is in use. May throw.
class StepBody {
 public:
  StepBody() = default;
  StepBody(const StepBody&) = delete;
  StepBody& operator=(const StepBody&) = delete;
  virtual ~StepBody() = default;

  virtual void begin(InstructionId) {}
  // Its waits were issued; where the host blocks for them they are over.
  virtual void ready(InstructionId) {}
  // While the queue of the buffer's own stream is in use.
  virtual void allocate(BufferId buffer) = 0;
  virtual void run(InstructionId instruction) = 0;
  // The host is through with the buffer; `users` are the queues that the allocator has to wait for besides
  // the owner's.
  virtual void release(BufferId buffer, std::span<const QueueIndex> users) = 0;
  virtual void end(InstructionId) {}
};

// What one step left to be read once the device is through.
struct IssuedStep {
  EventHandle began;
  std::vector<EventHandle> starts, ends;  // by instruction; null where it occupies no device time
};

class StepIssuer {
 public:
  // The device must outlive the issuer. With a jitter queues are delayed before instructions.
  explicit StepIssuer(StreamDevice& device, std::optional<Jitter> jitter = std::nullopt)
      : device_(device), jitter_(jitter) {}

  // Issues all of it and returns; the device may still be running. `timed`: events around every instruction
  // that occupies the device. Throws what device and body throw; `at()` then tells where.
  void issue(const StreamSchedule& schedule, StepBody& body, bool timed, IssuedStep& issued);

  // The instruction issued last, or being issued.
  InstructionId at() const { return at_; }

 private:
  void issue_one(const StreamSchedule& schedule, InstructionId id, StepBody& body, bool timed,
                 IssuedStep& issued);
  void wait(const ScheduledInstruction& scheduled, const StepPlan& plan);
  void leave(const StepPlan& plan);

  StreamDevice& device_;
  const std::optional<Jitter> jitter_;
  std::uint64_t steps_ = 0;  // issued so far
  InstructionId at_;
  std::vector<QueueIndex> queues_;           // by ScheduleQueue, of the plan being issued
  std::vector<EventHandle> signals_;         // by InstructionId, likewise
  std::map<std::string, EventHandle> left_;  // of the step before, by LeftEvent::name
};

}  // namespace shardlab

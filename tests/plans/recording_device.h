// A device that runs nothing and writes down what it was asked to do; and what follows from the record alone
// about the order of things.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/execute/streams/step_issuer.h"

namespace shardlab::test {

struct Recorded {
  enum class Kind { record, wait, block, run, allocate, release, delay } kind = Kind::run;
  QueueIndex queue = 0;            // record, wait, run, delay; of allocate and release the one in use
  std::size_t event = 0;           // record, wait, block
  const StepPlan* plan = nullptr;  // run, allocate, release
  InstructionId instruction;       // run
  BufferId buffer;                 // allocate, release
  std::vector<QueueIndex> users;   // release
  Nanoseconds time;                // delay
};
using Recording = std::vector<Recorded>;

class RecordingDevice : public StreamDevice {
 public:
  explicit RecordingDevice(Queueing queueing = Queueing::by_stream) : queueing_(queueing) {}

  Queueing queueing() const override { return queueing_; }
  QueueIndex queue(const std::string& name) override;
  void use(QueueIndex queue) override { in_use_ = queue; }
  EventHandle record(QueueIndex queue) override;
  void wait(QueueIndex queue, const EventHandle& event) override;
  void block(const EventHandle& event) override;
  void delay(QueueIndex queue, Nanoseconds time) override;
  void drain() override {}
  Nanoseconds between(const EventHandle&, const EventHandle&) override { return {}; }
  bool failed_between(const EventHandle&, const EventHandle&) override { return false; }

  void write_down(Recorded entry);
  const Recording& recording() const { return recording_; }
  std::size_t queues() const { return names_.size(); }

 private:
  const Queueing queueing_;
  std::vector<std::string> names_;
  std::size_t events_ = 0;
  QueueIndex in_use_ = 0;
  Recording recording_;
};

// The first place where the record does not keep what the plan needs, in words; empty when there is none:
// everything read was written before and is not released yet, writers come after readers, and what is
// allocated does not get memory that somebody still uses. Order comes from queues, events and host waits of
// the record, not from the plans' waits.
//
// on_host: the first queue is the host itself, which does its work when it is issued and blocks where it
// waits; what is released must not be in use any more.
std::string first_defect(const Recording& recording, std::size_t queues, Queueing queueing);

// Issues the steps, scheduled for such a device, one after the other on a recording one.
std::string first_defect(const std::vector<const StreamSchedule*>& steps,
                         Queueing queueing = Queueing::by_stream);
// What it wrote down, with the delays of a jitter if there is one.
Recording record_steps(const std::vector<const StreamSchedule*>& steps, Queueing queueing,
                       std::optional<Jitter> jitter = std::nullopt);

}  // namespace shardlab::test

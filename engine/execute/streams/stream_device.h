// What the executor asks of whatever it runs on: queues that run what is issued to them in order, and events
// that mark how far a queue has come.
//
// One thread issues. Calls may throw what the device's library throws; those that wait throw DeviceFailure
// (device_failure.h) when the device or a peer fails, with what made it fail nested where it was an
// exception. The host's implementation is host_queues.h, CUDA's execute/torch/cuda/cuda_device.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/units.h"
#include "engine/execute/streams/pending.h"

namespace shardlab {

// A point in a queue. Lives as long as somebody holds it, over the end of a step too.
class StreamEvent {
 public:
  StreamEvent() = default;
  StreamEvent(const StreamEvent&) = delete;
  StreamEvent& operator=(const StreamEvent&) = delete;
  virtual ~StreamEvent() = default;
};
using EventHandle = std::shared_ptr<StreamEvent>;

using QueueIndex = std::uint32_t;

// Which instructions a device runs in which queue, and when freed memory may be used again.
enum class Queueing : std::uint8_t {
  by_stream,  // a queue for each stream of a plan; freed memory is handed on in the order of its queue
  on_host,    // the host does everything when it is issued, but collectives and what a drive does: a queue
              // for each group of ranks and each stream of a drive; freed memory is handed on at once
};

class StreamDevice {
 public:
  StreamDevice() = default;
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;
  virtual ~StreamDevice() = default;

  virtual Queueing queueing() const = 0;
  // The queue of this name, made at first mention. The same name is the same queue for all plans of a run.
  virtual QueueIndex queue(const std::string& name) = 0;
  // What this thread issues and allocates from now on belongs to the queue.
  virtual void use(QueueIndex queue) = 0;
  // Work that was issued and left running belongs to the queue in use. A device whose libraries issue to its
  // own queues need not do this: here the work is waited for.
  virtual void adopt(std::unique_ptr<Pending> work) { work->wait(); }
  // Marks where the queue is now.
  virtual EventHandle record(QueueIndex queue) = 0;
  // What is issued to the queue from now on starts after the event. Blocks where issuing is doing (on_host).
  virtual void wait(QueueIndex queue, const EventHandle& event) = 0;
  // The host goes on after the event, or fails.
  virtual void block(const EventHandle& event) = 0;
  // The host goes on when all queues are empty. Likewise.
  virtual void drain() = 0;
  // The queue does nothing for about this long once it comes to it; for tests and measurements.
  virtual void delay(QueueIndex queue, Nanoseconds time) = 0;
  // From the earlier to the later event, both passed.
  virtual Nanoseconds between(const EventHandle& earlier, const EventHandle& later) = 0;
  // After a DeviceFailure: whether the work between the two events is what failed, or what the device is
  // stuck in. Throws when the device answers nothing any more.
  virtual bool failed_between(const EventHandle& start, const EventHandle& end) = 0;
};

}  // namespace shardlab

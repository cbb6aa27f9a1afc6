// What the executor asks of a device that works asynchronously: queues that run what is issued to them in
// order, and events that mark how far a queue has come.
//
// One thread issues. Calls may throw what the device's library throws; they never block, except block() and
// drain(). CUDA's implementation is execute/torch/cuda/cuda_device.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/units.h"

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

class StreamDevice {
 public:
  StreamDevice() = default;
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;
  virtual ~StreamDevice() = default;

  // The queue of this name (Stream::name), made at first mention. The same name is the same queue for all
  // plans of a run.
  virtual QueueIndex queue(const std::string& name) = 0;
  // What this thread issues and allocates from now on belongs to the queue.
  virtual void use(QueueIndex queue) = 0;
  // Marks where the queue is now.
  virtual EventHandle record(QueueIndex queue) = 0;
  // What is issued to the queue from now on starts after the event.
  virtual void wait(QueueIndex queue, const EventHandle& event) = 0;
  // The host goes on after the event. Throws when the device or a peer fails meanwhile.
  virtual void block(const EventHandle& event) = 0;
  // Without blocking.
  virtual bool passed(const EventHandle& event) = 0;
  // The host goes on when all queues are empty. Likewise.
  virtual void drain() = 0;
  // From the earlier to the later event, both passed.
  virtual Nanoseconds between(const EventHandle& earlier, const EventHandle& later) = 0;
};

}  // namespace shardlab

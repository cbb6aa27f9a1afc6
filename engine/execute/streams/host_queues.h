// The host as a device: the issuing thread does the work when it is issued, and what it leaves running in
// threads of communicators or on a drive (Pending) belongs to queues. What was adopted by a queue before a
// mark has ended once the mark has passed, in whatever order it ended.
//
// by_stream: the host in the place of a GPU, with the GPU's schedule. Its queues are always empty: what is
// adopted is waited for at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/execute/streams/stream_device.h"

namespace shardlab {

class HostQueues : public StreamDevice {
 public:
  explicit HostQueues(Queueing queueing = Queueing::on_host) : queueing_(queueing) {}

  Queueing queueing() const override { return queueing_; }
  QueueIndex queue(const std::string& name) override;
  void use(QueueIndex queue) override { in_use_ = queue; }
  void adopt(std::unique_ptr<Pending> work) override;
  EventHandle record(QueueIndex queue) override;
  void wait(QueueIndex, const EventHandle& event) override { block(event); }
  void block(const EventHandle& event) override;
  void delay(QueueIndex queue, Nanoseconds time) override;  // the issuing thread does nothing
  void drain() override;
  // A mark right before adopted work is at the time when that began, one after it when it was done, any other
  // when it was made.
  Nanoseconds between(const EventHandle& earlier, const EventHandle& later) override;
  bool failed_between(const EventHandle& start, const EventHandle& end) override;

 private:
  struct Mark;
  struct Queue {
    std::string name;
    std::vector<std::shared_ptr<Pending>> works;  // that were adopted since the last drain
    std::size_t finished = 0;                     // of them, the first ones
    std::shared_ptr<Mark> mark;                   // made since the last of them
  };
  static const Mark& mark_of(const EventHandle& event);
  void finish(Queue& queue, std::size_t count);
  void finish(const std::shared_ptr<Pending>& work);

  const Queueing queueing_;
  std::vector<Queue> queues_;
  QueueIndex in_use_ = 0;
  std::vector<std::shared_ptr<Pending>> running_;  // adopted since the last drain, in that order
  std::uint64_t drains_ = 0;                       // a mark of an earlier round has passed
  std::shared_ptr<Pending> failed_;                // whose end threw
};

}  // namespace shardlab

#include "engine/execute/streams/host_queues.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

#include "engine/execute/machine.h"
#include "engine/execute/streams/device_failure.h"

namespace shardlab {

struct HostQueues::Mark : StreamEvent {
  Nanoseconds made;
  std::shared_ptr<Pending> before, after;  // the work that it follows and that follows it, if there is any
  QueueIndex queue = 0;
  std::size_t count = 0;  // of the queue's works that it follows
  std::uint64_t round = 0;

  Nanoseconds time() const {
    if (after) return after->began_at();
    return before ? std::max(made, before->completed_at()) : made;
  }
};

const HostQueues::Mark& HostQueues::mark_of(const EventHandle& event) {
  if (!event) throw std::logic_error("an event that was never recorded");
  return static_cast<const Mark&>(*event);
}

QueueIndex HostQueues::queue(const std::string& name) {
  const auto known =
      std::find_if(queues_.begin(), queues_.end(), [&](const Queue& queue) { return queue.name == name; });
  if (known != queues_.end()) return static_cast<QueueIndex>(known - queues_.begin());
  queues_.push_back({name, {}, 0, nullptr});
  return static_cast<QueueIndex>(queues_.size() - 1);
}

void HostQueues::adopt(std::unique_ptr<Pending> work) {
  Queue& queue = queues_.at(in_use_);
  queue.works.push_back(std::move(work));
  running_.push_back(queue.works.back());
  if (queue.mark) queue.mark->after = queue.works.back();
  queue.mark.reset();
  if (queueing_ == Queueing::by_stream) finish(queue, queue.works.size());
}

EventHandle HostQueues::record(QueueIndex index) {
  Queue& queue = queues_.at(index);
  queue.mark = std::make_shared<Mark>();
  queue.mark->made = monotonic_now();
  queue.mark->queue = index;
  queue.mark->count = queue.works.size();
  queue.mark->round = drains_;
  if (!queue.works.empty()) queue.mark->before = queue.works.back();
  return queue.mark;
}

void HostQueues::block(const EventHandle& event) {
  const Mark& mark = mark_of(event);
  if (mark.round == drains_) finish(queues_.at(mark.queue), mark.count);
}

void HostQueues::delay(QueueIndex, Nanoseconds time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time.value));
}

void HostQueues::drain() {
  for (const std::shared_ptr<Pending>& work : running_) finish(work);
  running_.clear();
  for (Queue& queue : queues_) queue = {queue.name, {}, 0, nullptr};
  ++drains_;
}

void HostQueues::finish(Queue& queue, std::size_t count) {
  for (; queue.finished < count; ++queue.finished) finish(queue.works[queue.finished]);
}

void HostQueues::finish(const std::shared_ptr<Pending>& work) {
  try {
    work->wait();
  } catch (const std::exception& error) {
    failed_ = work;
    std::throw_with_nested(DeviceFailure(error.what()));
  }
}

Nanoseconds HostQueues::between(const EventHandle& earlier, const EventHandle& later) {
  return mark_of(later).time() - mark_of(earlier).time();
}

bool HostQueues::failed_between(const EventHandle& start, const EventHandle&) {
  return failed_ && mark_of(start).after == failed_;
}

}  // namespace shardlab

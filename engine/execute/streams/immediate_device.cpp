#include "engine/execute/streams/immediate_device.h"

#include <algorithm>
#include <stdexcept>

#include "engine/execute/monotonic_clock.h"

namespace shardlab {
namespace {

struct Moment : StreamEvent {
  Nanoseconds at;
};

const Moment& moment(const EventHandle& event) {
  if (!event) throw std::logic_error("a wait for an event that was never recorded");
  return static_cast<const Moment&>(*event);
}

}  // namespace

QueueIndex ImmediateDevice::queue(const std::string& name) {
  const auto known = std::find(names_.begin(), names_.end(), name);
  if (known != names_.end()) return static_cast<QueueIndex>(known - names_.begin());
  names_.push_back(name);
  return static_cast<QueueIndex>(names_.size() - 1);
}

EventHandle ImmediateDevice::record(QueueIndex) {
  auto event = std::make_shared<Moment>();
  event->at = monotonic_now();
  return event;
}

void ImmediateDevice::wait(QueueIndex, const EventHandle& event) {
  moment(event);
}

void ImmediateDevice::block(const EventHandle& event) {
  moment(event);
}

Nanoseconds ImmediateDevice::between(const EventHandle& earlier, const EventHandle& later) {
  return moment(later).at - moment(earlier).at;
}

}  // namespace shardlab

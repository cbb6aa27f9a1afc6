// A device whose queues are always empty: what is issued is done when the call returns. A processor seen as a
// device; with it the executor's path for devices runs where there is none.
#pragma once

#include <vector>

#include "engine/execute/streams/stream_device.h"

namespace shardlab {

class ImmediateDevice : public StreamDevice {
 public:
  QueueIndex queue(const std::string& name) override;
  void use(QueueIndex) override {}
  EventHandle record(QueueIndex) override;
  void wait(QueueIndex, const EventHandle& event) override;
  void block(const EventHandle& event) override;
  bool passed(const EventHandle&) override { return true; }
  void drain() override {}
  Nanoseconds between(const EventHandle& earlier, const EventHandle& later) override;

 private:
  std::vector<std::string> names_;
};

}  // namespace shardlab

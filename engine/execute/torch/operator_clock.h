// Times every operator of a step, by kind: `measure.detail: operators`.
//
// Times are between events of the compute queue, read when the step is over. Recording them takes its share
// of the step; without this clock nothing is recorded within a segment.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/execute/streams/stream_device.h"
#include "engine/trace/operator_time.h"

namespace shardlab {

class OperatorClock {
 public:
  // The device must outlive the clock.
  explicit OperatorClock(StreamDevice& device) : device_(device), queue_(device.queue("compute")) {}

  // Around an operator, while the compute queue is in use. `operation` must outlive the clock.
  void begin();
  void end(std::string_view operation, bool backward);
  // The device is through with the step. What a step left that does not count is dropped.
  void finish_step(bool counts);
  // Per counted step; by name, forward first.
  std::vector<OperatorTime> mean() const;

 private:
  using Key = std::pair<std::string_view, bool>;
  struct Sum {
    std::int64_t calls = 0;
    Nanoseconds time;
  };
  struct Pending {
    Key key;
    EventHandle began, ended;
  };

  StreamDevice& device_;
  const QueueIndex queue_;
  EventHandle event_;
  std::vector<Pending> pending_;
  std::map<Key, Sum> step_, total_;
  std::int64_t steps_ = 0;
};

}  // namespace shardlab

#include "engine/execute/torch/operator_clock.h"

#include <string>

namespace shardlab {

void OperatorClock::begin() {
  event_ = device_.record(queue_);
}

void OperatorClock::end(std::string_view operation, bool backward) {
  pending_.push_back({{operation, backward}, std::move(event_), device_.record(queue_)});
}

void OperatorClock::finish_step(bool counts) {
  for (const Pending& pending : pending_) {
    Sum& sum = step_[pending.key];
    ++sum.calls;
    if (counts) sum.time += device_.between(pending.began, pending.ended);
  }
  pending_.clear();
  if (counts) {
    ++steps_;
    for (const auto& [key, sum] : step_) {
      total_[key].calls += sum.calls;
      total_[key].time += sum.time;
    }
  }
  step_.clear();
}

std::vector<OperatorTime> OperatorClock::mean() const {
  std::vector<OperatorTime> times;
  for (const auto& [key, sum] : total_)
    times.push_back({std::string(key.first), key.second, sum.calls / steps_, sum.time / steps_});
  return times;
}

}  // namespace shardlab

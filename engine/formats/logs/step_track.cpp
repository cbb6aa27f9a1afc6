#include "engine/formats/logs/step_track.h"

#include <algorithm>

namespace shardlab {
namespace {

// A bar shows whole seconds: over so many of them a time is known to 5 %.
constexpr Nanoseconds k_least_by_bar = milliseconds(20'000);
// What no step takes; a clock that was set, a machine that slept.
constexpr Nanoseconds k_longest_step = milliseconds(std::int64_t{30} * 86'400'000);

}  // namespace

void StepTrack::take(int owner, const LineFigures& figures) {
  const std::int64_t step = *figures.step;
  if (!leader_) leader_ = owner;
  if (owner != *leader_) return;
  if (starts_ == 0 || is_new_start(step)) begin(step);
  const int seen = ++seen_[step];
  most_seen_ = std::max(most_seen_, seen);
  if (seen > 1) return;
  last_ = std::max(last_, step);
  add_time(figures, step);
}

bool StepTrack::is_new_start(std::int64_t step) const {
  if (step >= last_) return false;
  const auto seen = seen_.find(step);
  const int times = seen == seen_.end() ? 0 : seen->second;
  return times == 0 || times >= most_seen_;
}

void StepTrack::begin(std::int64_t step) {
  ++starts_;
  seen_.clear();
  most_seen_ = 0;
  last_ = step;
  begun_at_ = std::max<std::int64_t>(step - 1, 0);
  clock_.reset();
}

void StepTrack::add_time(const LineFigures& figures, std::int64_t step) {
  if (figures.time) {
    times_.push_back({step - 1, step, *figures.time, begun_at_});
    return;
  }
  if (!figures.clock) return;
  const bool is_bar = figures.kind == LineKind::progress_bar;
  if (clock_ && step > clock_step_) {
    const Nanoseconds passed = *figures.clock - *clock_;
    if (is_bar && passed < k_least_by_bar && passed.value >= 0) return;
    if (passed.value > 0 && passed < k_longest_step)
      times_.push_back({clock_step_, step, passed / (step - clock_step_), begun_at_});
  }
  clock_ = figures.clock;
  clock_step_ = step;
}

}  // namespace shardlab

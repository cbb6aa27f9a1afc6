#include "engine/formats/logs/steady_times.h"

#include <algorithm>

namespace shardlab {
namespace {

// The times that begin after so many steps of their start.
SteadyTimes after_first(const std::vector<TimedSteps>& all, std::int64_t first) {
  SteadyTimes steady;
  for (const TimedSteps& time : all) {
    if (time.after - time.begun_at >= first)
      steady.times.push_back(time);
    else
      steady.left_out += time.count();
  }
  return steady;
}

// The time of the step at this place, from 0, among sorted ones.
Nanoseconds time_at(const std::vector<TimedSteps>& sorted, std::int64_t place) {
  for (const TimedSteps& time : sorted) {
    if (place < time.count()) return time.each;
    place -= time.count();
  }
  return sorted.back().each;
}

}  // namespace

std::int64_t SteadyTimes::steps() const {
  std::int64_t sum = 0;
  for (const TimedSteps& time : times) sum += time.count();
  return sum;
}

SteadyTimes steady_times(const std::vector<TimedSteps>& all) {
  for (const std::int64_t first : {k_first_steps, std::int64_t{1}}) {
    SteadyTimes steady = after_first(all, first);
    if (!steady.times.empty()) return steady;
  }
  return {all, 0, !all.empty()};
}

StepTimeSummary step_time_of(const SteadyTimes& steady) {
  StepTimeSummary summary;
  if (steady.times.empty()) return summary;
  std::vector<TimedSteps> sorted = steady.times;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.each < b.each; });
  const std::int64_t steps = steady.steps();
  const Nanoseconds lower = time_at(sorted, (steps - 1) / 2), upper = time_at(sorted, steps / 2);
  summary.median = (lower + upper) / 2;
  summary.min = sorted.front().each;
  summary.max = sorted.back().each;
  constexpr std::int64_t k_most = 1'000'000'000;
  summary.n = static_cast<int>(std::min(steps, k_most));
  return summary;
}

}  // namespace shardlab

// Which times of a log count, and what they are in the middle.
#pragma once

#include <vector>

#include "engine/formats/logs/training_log.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// The steps at the beginning of every start that are left out: the first ones compile, fill caches and tune.
inline constexpr std::int64_t k_first_steps = 3;

// Left out are times that begin within the first k_first_steps steps of a start of the program, counted from
// the step of its first line; where that leaves none, those that hold this step; where that leaves none
// either, none.
struct SteadyTimes {
  std::vector<TimedSteps> times;
  std::int64_t left_out = 0;  // steps whose times are
  bool hold_first = false;    // nothing else was there: times hold first steps

  std::int64_t steps() const;
};

SteadyTimes steady_times(const std::vector<TimedSteps>& all);

// Every step counts once, with the mean of its time. Zeros where there is none.
StepTimeSummary step_time_of(const SteadyTimes& steady);

}  // namespace shardlab

// Runs of the hand-made plan, as panels are given them.
#pragma once

#include <cstdint>
#include <memory>

#include "gui/view_model/loaded_run.h"
#include "tests/hand_made_record.h"

namespace shardlab::test {

// Everything lasts `percent` of the hand-made time; the summary says so too.
inline view::LoadedRun loaded_run(std::int64_t id, RunKind kind, std::int64_t percent = 100, int steps = 2) {
  view::LoadedRun run{RunId{id}, hand_made_record("tiny", kind, steps)};
  for (StepTrace& step : run.record.trace.steps) step = stretched(step, percent);
  run.record.summary.step_time.median = Nanoseconds{510} * percent / 100;
  return run;
}

inline view::LoadedRunPtr shared_run(view::LoadedRun run) {
  return std::make_shared<const view::LoadedRun>(std::move(run));
}

}  // namespace shardlab::test

// The steps that lines of one kind number: what belongs to which start of the program, and how long steps
// took by the clocks of the lines. Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/base/units.h"
#include "engine/formats/logs/line_figures.h"
#include "engine/formats/logs/training_log.h"

namespace shardlab {

// Lines come in the order of the log. Where several ranks write, the first that does is the one whose clock
// counts. Lines that nobody signed may be of several ranks: a step that comes again, as often as others did,
// is no new start.
class StepTrack {
 public:
  // The line has a step. `owner`: the rank, -1 where nobody says.
  void take(int owner, const LineFigures& figures);

  // In the order of the log; the first step of a start has no time by a clock.
  const std::vector<TimedSteps>& times() const { return times_; }
  int starts() const { return starts_; }
  std::int64_t last_step() const { return last_; }

 private:
  bool is_new_start(std::int64_t step) const;
  void begin(std::int64_t step);
  void add_time(const LineFigures& figures, std::int64_t step);

  std::optional<int> leader_;
  std::map<std::int64_t, int> seen_;  // of this start: how many lines have the step
  int most_seen_ = 0;
  int starts_ = 0;
  std::int64_t last_ = 0;
  std::int64_t begun_at_ = 0;         // steps before the first of this start
  std::optional<Nanoseconds> clock_;  // of the line that ended the time before, at clock_step_
  std::int64_t clock_step_ = 0;
  std::vector<TimedSteps> times_;
};

}  // namespace shardlab

// Lines of a log, put together. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/words.h"
#include "engine/formats/logs/line_figures.h"
#include "engine/formats/logs/step_track.h"
#include "engine/formats/logs/training_log.h"
#include "engine/formats/logs/unnumbered_lines.h"

namespace shardlab {

class LogCollector {
 public:
  // `samples_per_step`: of all ranks, until a line says it.
  explicit LogCollector(std::optional<std::int64_t> samples_per_step = {});

  // What follows is of another file. `rank`: who writes where its lines do not say it. `writer`: tells files
  // apart that several ranks write at the same time; the same number for the parts of one log.
  void begin_file(std::optional<int> rank, int writer);

  // In the order of the log.
  void take(LineFigures figures, std::optional<int> rank);

  // Whether any line was about a step.
  bool has_steps() const { return has_steps_; }

  TrainingLog finish();

 private:
  void number(LineFigures& figures);
  void take_step(const LineFigures& figures, int owner);
  void take_bar(const LineFigures& figures, int owner);
  void take_speed(const LineFigures& figures);
  void take_value(LoggedValues& values, std::optional<double> value, const LineFigures& figures);
  void take_facts(const LineFigures& figures, std::optional<int> rank);
  void choose_times();
  void take_whole_mean();
  void take_middle_speed();

  struct Speed {
    std::int64_t step;
    double tokens;       // per second of each rank
    double utilization;  // negative: not said
  };

  TrainingLog log_;
  std::array<StepTrack, k_words<LineKind>.size()> tracks_;  // by kind
  std::map<std::int64_t, StepTrack> bars_;                  // by the number of their steps
  std::vector<LineFigures> whole_;                          // lines about the whole training
  std::vector<Speed> speeds_;
  std::int64_t now_ = 0;   // the step that lines without one are of
  std::int64_t next_ = 1;  // the step that DeepSpeed's next timers are of
  UnnumberedLines unnumbered_;
  std::vector<LineFigures> numbered_later_;  // of the files before
  bool has_steps_ = false;
  std::optional<int> rank_;  // of the file
  int writer_ = 0;
};

}  // namespace shardlab

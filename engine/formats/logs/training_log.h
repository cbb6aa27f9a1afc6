// What is known of a training from its log: each thing absent where no line says it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

// The steps after one and up to another, of which each took so long in the mean.
struct TimedSteps {
  std::int64_t after = 0;
  std::int64_t last = 0;
  Nanoseconds each;
  std::int64_t begun_at = 0;  // the step before that of the first line since the program started

  std::int64_t count() const { return last - after; }
  friend bool operator==(const TimedSteps&, const TimedSteps&) = default;
};

// The highest of a figure, with who said it where.
struct LoggedPeak {
  Bytes bytes;
  std::optional<int> rank;
  std::int64_t step = 0;  // the last that a line had numbered
};

// A figure by its step, in the order of steps; of a step that ran twice the later one.
using LoggedValues = std::map<std::int64_t, double>;

struct TrainingLog {
  std::vector<std::string_view> programs;  // "transformers", "DeepSpeed", "torchtitan", in the order of lines
  std::vector<TimedSteps> times;           // from the best source
  std::string_view times_from;             // which that is, in words; empty: no line tells a time
  LoggedValues losses, gradient_norms;
  bool knows_steps = false;  // else losses are numbered in their order
  int starts = 1;
  std::int64_t last_step = 0;
  std::optional<int> world_size;  // as a line says
  std::set<int> ranks;            // that signed lines
  std::optional<LoggedPeak> peak_allocated, peak_reserved;
  bool is_reserved_rounded = false;  // to whole GiB
  std::optional<Bytes> host_memory;  // highest in use on the node, whoever uses it
  std::optional<double> tokens_per_second, tokens_per_second_of_rank;
  std::optional<double> utilization;  // as the program reckons it
  std::optional<std::int64_t> samples_per_step;
  std::optional<std::int64_t> skipped_steps;
  std::string device;  // its name; empty: not known
  std::optional<Bytes> device_memory;
  std::string read_as;  // what several files are to each other, in words; empty: there is one
};

}  // namespace shardlab

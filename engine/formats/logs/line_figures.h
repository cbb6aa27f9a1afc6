// What one line of a training program's log says. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

// Lines that number steps in the same way. The later ones tell times of steps the better.
enum class LineKind : std::uint8_t {
  progress_bar,     // a clock of whole seconds
  deepspeed_step,   // the time of day alone
  torchtitan_step,  // likewise
  trainer_figures,  // the seconds since its start, where tokens are counted
  deepspeed_speed,  // samples per second of one step
  deepspeed_times,  // forward, backward and step of one step
  other,            // about no step
};
template <>
inline constexpr auto k_words<LineKind> = std::to_array<Word<LineKind>>(
    {{LineKind::progress_bar, "progress bars, whose clock shows whole seconds"},
     {LineKind::deepspeed_step, "the time of day of DeepSpeed's lines, with all that was done between them"},
     {LineKind::torchtitan_step,
      "the time of day of torchtitan's lines, with all that was done between them"},
     {LineKind::trainer_figures,
      "the Trainer's seconds since its start, with all that was done between its lines"},
     {LineKind::deepspeed_speed, "DeepSpeed's samples per second of single steps"},
     {LineKind::deepspeed_times,
      "DeepSpeed's timers of forward, backward and step, for which the host waits"},
     {LineKind::other, "other lines"}});

// What is absent the line does not say. GB of DeepSpeed and GiB of torchtitan are both 2^30 bytes
// (deepspeed/utils/timer.py, torchtitan/components/metrics.py).
struct LineFigures {
  LineKind kind = LineKind::other;
  std::optional<std::int64_t> step = {};  // from 1; the Trainer's console says none
  std::optional<std::int64_t> of = {};    // steps of a progress bar
  std::optional<double> loss = {};
  std::optional<double> gradient_norm = {};
  std::optional<Nanoseconds> clock = {};  // since some fixed moment: a day long ago, or the program's start
  std::optional<Nanoseconds> time = {};   // of this one step
  std::optional<double> samples_per_second = {};         // of all ranks, in this step or over many
  std::optional<double> steps_per_second = {};           // over the whole training
  std::optional<Nanoseconds> runtime = {};               // of the whole training
  std::optional<double> tokens_per_second = {};          // of all ranks
  std::optional<double> tokens_per_second_of_rank = {};  // of each
  std::optional<double> utilization = {};                // as the program reckons it
  std::optional<Bytes> peak_allocated = {};
  std::optional<Bytes> peak_reserved = {};
  std::optional<Bytes> host_memory = {};  // in use on the node, whoever uses it
  std::optional<std::int64_t> skipped = {};
  std::optional<std::int64_t> samples_per_step = {};  // of all ranks
  std::optional<int> ranks = {};
  std::optional<std::string> device = {};
  std::optional<Bytes> device_memory = {};
  bool is_whole_gibibytes = false;  // peak_reserved is rounded to them

  friend bool operator==(const LineFigures&, const LineFigures&) = default;
};

}  // namespace shardlab

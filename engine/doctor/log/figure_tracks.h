// The figures of a training loop over its steps, as one rank prints them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/series/growing_memory.h"
#include "engine/doctor/series/loss_track.h"
#include "engine/doctor/series/norm_track.h"

namespace shardlab {

// A line as it stands in the log; it becomes readable where it is told.
struct RawLine {
  std::int64_t line = 0;
  std::optional<int> rank;
  std::string_view text;
};
SeenLine seen(const RawLine& raw);

class FigureTracks {
 public:
  // Every line that may have a figure, and the same in lower case. `finite` is false for one whose loss or
  // norm is none.
  void take(const RawLine& raw, std::string_view lower_case_line, bool finite);

  // Sets the series of the facts.
  void finish(LogFacts& facts) const;

 private:
  void take_loss(const RawLine& raw, double loss);
  void take_norm(const RawLine& raw, double norm);
  void take_memory(const RawLine& raw, std::string_view name, double memory);

  // The last line of a track, as it stands in the log, cut where nobody reads on.
  struct LastLine {
    std::int64_t line = 0;
    std::optional<int> rank;
    std::string text;

    void set(const RawLine& raw);
    SeenLine seen() const;
  };
  struct Losses {
    LossTrack track;
    LastLine last;
  };
  struct Memory {
    MemoryTrack track;
    LastLine last;
  };
  std::map<int, Losses> losses_;  // by rank; -1: nobody says whose
  std::map<int, NormTrack> norms_;
  std::map<std::pair<int, std::string_view>, Memory> memory_;
  std::optional<SeenSpike> spike_;
  std::optional<SeenRise> rise_;  // before a loss that is not finite
};

}  // namespace shardlab

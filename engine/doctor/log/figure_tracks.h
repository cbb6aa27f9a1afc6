// The figures of a training loop over its steps, as one rank prints them.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/series/growing_memory.h"
#include "engine/doctor/series/loss_track.h"
#include "engine/doctor/series/norm_track.h"

namespace shardlab {

class FigureTracks {
 public:
  // Every line that may have a figure, in lower case. `finite` is false for one whose loss or norm is none.
  void take(const SeenLine& kept, std::string_view lower_case_line, bool finite);

  // Sets the series of the facts.
  void finish(LogFacts& facts) const;

 private:
  void take_loss(const SeenLine& kept, double loss);
  void take_norm(const SeenLine& kept, double norm);
  void take_memory(const SeenLine& kept, std::string_view name, double memory);

  struct Losses {
    LossTrack track;
    SeenLine last;
  };
  struct Memory {
    MemoryTrack track;
    SeenLine last;
  };
  std::map<int, Losses> losses_;  // by rank; -1: nobody says whose
  std::map<int, NormTrack> norms_;
  std::map<std::pair<int, std::string_view>, Memory> memory_;
  std::optional<SeenSpike> spike_;
  std::optional<SeenRise> rise_;  // before a loss that is not finite
};

}  // namespace shardlab

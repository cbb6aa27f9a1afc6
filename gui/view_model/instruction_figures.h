// Figures of every instruction of a run, over its measured steps and ranks: what comparisons are made of.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

struct InstructionFigures {
  Nanoseconds median;  // of end - start
  Nanoseconds least;
  Nanoseconds most;
  Nanoseconds arrival;  // median over steps: the last rank's start after the first rank's, on one clock
  int n = 0;            // spans
};

// By instruction of the steady plan; absent where no rank ran it. Steps of other plans are left out.
std::vector<std::optional<InstructionFigures>> instruction_figures(const LoadedRun& run);

}  // namespace shardlab::view

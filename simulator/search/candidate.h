// A configuration that was simulated, with what the training would cost and what it misses of the needs.
#pragma once

#include <string>
#include <vector>

#include "simulator/search/outcome.h"
#include "simulator/search/search_space.h"
#include "simulator/search/training_time.h"

namespace shardlab {

// A need that is not met: by which share of its bound, and in words.
struct Miss {
  double excess = 0;
  bool of_memory = false;
  std::string text;
};

struct Candidate {
  Configuration configuration;
  PredictedFigures figures;
  TrainingCosts costs;
  std::vector<Miss> misses;

  bool satisfies() const { return misses.empty(); }
  double worst_miss() const;
};

Candidate candidate_of(const SearchQuestion& question, Configuration configuration, PredictedFigures figures);

// What no prediction of a configuration falls short of.
struct LowerBounds {
  double step_ns = 0;
  Bytes memory;
  std::optional<Bytes> limit;
  TrainingCosts costs;
  int gpus = 0;
  std::int64_t micro_batch = 1;
};
// A simulated configuration is the closest bound of itself.
LowerBounds exact_bounds(const Candidate& candidate);
// The same where a rank may use so many times the memory.
LowerBounds with_memory(LowerBounds bounds, double times);

// By how much bounds from below miss the needs already, the worst excess; 0: not at all.
double certain_miss(const SearchQuestion& question, const LowerBounds& bounds);

// What its nodes cost and risk.
Rented rented(const SearchQuestion& question, const Configuration& configuration);

// The rent of all its nodes; unknown without an offer that says it.
std::optional<double> dollars_an_hour(const Configuration& configuration);

// The times of its steps and what decides how many there are.
StepTimes steps_of(const Configuration& configuration, const PredictedFigures& figures);

}  // namespace shardlab

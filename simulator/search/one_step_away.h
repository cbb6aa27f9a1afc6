// What is near a configuration: each knob one step away, and for one that misses a need, the change that
// mends it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/search/candidate.h"
#include "simulator/search/evaluate.h"

namespace shardlab {

// The same with another choice of one knob: a neighbour in its list.
struct Neighbour {
  std::string key, from, to;
  std::string refused;                 // why there is no prediction; empty where there is one
  std::optional<Candidate> candidate;  // with its misses
};

// In the order of the knobs. Errors: run_failed where results cannot be kept.
Result<std::vector<Neighbour>> one_step_away(const SearchSpace& space, Evaluator& evaluator,
                                             const Candidate& from, int threads);

struct Mend {
  std::string setting;        // as for --set; several after commas
  Candidate candidate;        // with it; satisfies
  bool beyond_offer = false;  // it takes more nodes than are offered
};

// Tries the settings that would save memory without touching the arithmetic, and twice and four times the
// nodes, whether they are offered or not. The result is the one after which every need is met at the least
// cost, or none where none does that. Errors as above.
Result<std::optional<Mend>> cheapest_mend(const SearchSpace& space, Evaluator& evaluator,
                                          const Candidate& miss);

}  // namespace shardlab

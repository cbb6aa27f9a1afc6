// What other hardware would buy: the best with more memory, and with faster wires.
//
// Each is the prediction of `shardlab simulate` for the scenario with settings of cluster.suppose (on
// processors cluster.memory_limit), at the price of the hardware that there is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/search/one_step_away.h"
#include "simulator/search/search.h"

namespace shardlab {

struct OtherHardware {
  std::string what;                    // "memory of a rank", "network", "links in a node"
  Neighbour own;                       // the best itself there
  bool asked_who_is_best = false;      // of memory alone, after a search that came to its end
  std::optional<Candidate> best_then;  // another configuration that is the best there
  std::size_t untried = 0;             // that might be, beyond the most that are tried
};

// For the leader's best k_more_memory times the memory of a rank, where it has a limit, and twice the rate of
// either wire that its ranks use.
//
// Memory changes no step's time, only what fits. So what becomes the best is sought among those that lacked
// memory and are faster (or cheaper ...) than the best: those that were simulated from the first on until one
// fits, then those that bounds left out. A few rounds of simulations, at most 128; threads change nothing but
// the time. `result` is that of the space. Errors: run_failed where results cannot be kept.
Result<std::vector<OtherHardware>> on_other_hardware(const SearchSpace& space, Evaluator& evaluator,
                                                     const SearchResult& result, const Leader& leader,
                                                     int threads);

}  // namespace shardlab

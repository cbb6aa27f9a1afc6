// The few candidates that miss the needs by least.
#pragma once

#include <vector>

#include "simulator/search/candidate.h"

namespace shardlab {

// Puts the candidate at its place among the nearest, of which five are kept: by the worst miss, of equal ones
// the nearer to the defaults.
void add_near(const Candidate& candidate, std::vector<Candidate>& nearest);

// Whether there are five and nothing that misses a need by at least so much comes before the last of them.
bool is_farther(double least_miss, const std::vector<Candidate>& nearest);

}  // namespace shardlab

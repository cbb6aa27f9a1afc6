// Candidates that a prediction cannot tell apart, and which of them is recommended.
#pragma once

#include <optional>
#include <vector>

#include "simulator/search/leaders.h"

namespace shardlab {

// What an order compares where everything before is equal: time, or money where it is by money. Nothing where
// that is unknown.
std::optional<double> compared(const Order& order, const Candidate& candidate);

// Whether two are equal in what an order compares before that.
bool same_first(const Order& order, const Candidate& a, const Candidate& b);

// The nearest to the scenario of the best and those that satisfy, stand on the same devices and are worse by
// at most k_equal; of several the one that needs least memory. Nothing where that is the best itself.
std::optional<Candidate> nearest_equal(const Leader& leader, const std::vector<Candidate>& simulated);

// What is recommended and written: the nearest equal where there is one, else the best.
const Candidate& recommended(const Leader& leader);

}  // namespace shardlab

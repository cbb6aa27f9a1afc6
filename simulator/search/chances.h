// What is likely of an answer, from the errors of earlier predictions of time.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/search/leaders.h"
#include "simulator/search/search.h"
#include "simulator/search/time_errors.h"

namespace shardlab {

struct CostRange {
  double low = 0, high = 0;  // in 8 of 10 cases between these
};

struct Chances {
  std::optional<CostRange> hours, dollars;   // with tokens, with a price
  std::optional<double> in_time, in_budget;  // where the question has a deadline, a budget
};

// Steps take longer or shorter by one factor; failures stay the expected ones.
Chances chances_of(const SearchQuestion& question, const Candidate& candidate, const TimeErrors& errors);

// Below this a difference counts as within the error of predictions.
inline constexpr double k_told_apart = 0.8;

// How likely a is really before b of those that are compared by time (or by money, where the order is), a
// being predicted to be. Nothing where the order compares something else first that they differ in, or money
// is unknown.
std::optional<double> chance_before(const Order& order, const Candidate& a, const Candidate& b,
                                    const TimeErrors& errors);

struct AsGood {
  std::int64_t count = 0;  // others that satisfy and are within the error of the best
  std::optional<Candidate>
      nearest;  // of these and the best the one nearest to the scenario, where it is another
};
AsGood as_good_as(const Leader& leader, const SearchResult& result, const TimeErrors& errors);

}  // namespace shardlab

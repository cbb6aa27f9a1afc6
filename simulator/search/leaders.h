// The best and the second best so far in several orders, and the Pareto front of time, memory and money: what
// tells whether a configuration can still matter.
//
// The result does not depend on the order in which candidates come. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/search/candidate.h"

namespace shardlab {

// An objective, or the largest value of a knob.
struct Order {
  SearchObjective objective = SearchObjective::time;
  std::string largest;  // the key whose value is to be largest; empty: as the objective says
};

// The smaller, the better; nothing where the order knows no such candidate (money without a price).
using Rank = std::array<double, 2>;
std::optional<Rank> rank_of(const Order& order, double time, std::optional<double> money, int gpus,
                            std::int64_t micro_batch, double largest);

// Worse by so little two are equal to whoever chooses: of such pairs of published runs the one that was
// predicted to be faster is so in 52 of 100 cases (TimeErrors::faster).
inline constexpr double k_equal = 0.005;

struct Leader {
  Order order;
  std::optional<Candidate> best, second;  // of different predictions
  // Where another is as good as the best and nearer to the scenario (equal_candidates.h); of a search's
  // answers.
  std::optional<Candidate> nearest_equal = {};
};

// The leader of the objective, else the first there is; null without any.
const Leader* leader_for(const std::vector<Leader>& leaders, SearchObjective objective);

// Than which nothing with these bounds ranks lower; nothing where the order knows no such configuration.
std::optional<Rank> least_rank(const Order& order, const LowerBounds& bounds,
                               const Configuration& configuration);

// Whether a configuration with these bounds may rank as low as the best, or lower.
bool may_lead(const Leader& leader, const LowerBounds& bounds, const Configuration& configuration);

class Leaders {
 public:
  // So many of the best of each order, of different ranks, are not to be missed: at least the two of a
  // Leader.
  Leaders(const SearchQuestion& question, std::vector<Order> orders, std::size_t wanted = 2);

  void add(const Candidate& candidate);  // that satisfies

  // Whether nothing with at least these bounds can become one of the wanted, equal to a best one or a point
  // of the front. `largest`: the value of the key of such an order.
  bool beaten(const LowerBounds& bounds, double largest) const;

  const std::vector<Leader>& leaders() const { return leaders_; }
  const std::vector<Candidate>& front() const { return front_; }

  // The value that a candidate's settings give to the key, 0 where they give none.
  double largest_of(const Configuration& configuration) const;

 private:
  void keep_rank(std::size_t leader, const Rank& rank);

  const SearchQuestion& question_;
  std::size_t wanted_;
  std::vector<Leader> leaders_;
  std::vector<std::vector<Rank>> ranks_;  // of each leader the wanted lowest, ascending
  std::vector<Candidate> front_;          // with those of equal predictions
};

// The number, size or time that settings give to a key, the last of them; nothing where they give none.
std::optional<double> number_given(const std::vector<std::string>& settings, const std::string& key);

// Whether a comes first among equals: fewer knobs differ from the scenario, then the order of the space.
bool nearer_to_defaults(const Configuration& a, const Configuration& b);

}  // namespace shardlab

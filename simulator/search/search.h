// The search: every combination of a question's knobs is refused, bounded away or simulated, and the best of
// them, the Pareto front and, where nothing satisfies, the nearest misses are what simulating all of them
// would give.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/search/evaluate.h"
#include "simulator/search/leaders.h"
#include "simulator/search/search_space.h"

namespace shardlab {

struct SearchProgress {
  std::uint64_t done = 0, total = 0;
  std::int64_t simulated = 0;
};

struct SearchOptions {
  bool exhaustive = false;        // simulate what bounds would leave out
  int threads = 1;                // changes nothing but the time
  std::optional<double> seconds;  // then the best so far
  std::vector<Order> orders;      // empty: every objective
  std::size_t best = 2;           // so many of the best of each order are what simulating all would give
  std::function<void(const SearchProgress&)> progress;
  std::function<bool()> stop;  // asked between rounds; where it says so, the search ends with the best so far
};

// total = refused + indivisible + bounded + simulated + open.
struct SpaceCounts {
  std::uint64_t total = 0, refused = 0, indivisible = 0, bounded = 0, simulated = 0, open = 0;
  std::uint64_t not_fitting = 0, unmet = 0, satisfying = 0;  // of those simulated
};

struct FrontPoint {
  Candidate candidate;
  int alike = 0;  // others for which it stands
};

// By time. Of those whose time, memory and money are within one percent the one nearest to the defaults
// stands for the others; so does one that needs less memory for those that it equals in time and money
// (k_equal).
std::vector<FrontPoint> folded_front(std::vector<Candidate> front);

// So many times the memory of a rank is asked about besides (other_hardware.h).
inline constexpr double k_more_memory = 1.25;

// A configuration that was not simulated.
struct BoundedAway {
  std::uint64_t index = 0;
  LowerBounds bounds;
};

struct SearchTiming {
  double seconds = 0;
  double estimates_per_second = 0, simulations_per_second = 0;  // of one thread
};

struct SearchResult {
  SpaceCounts space;
  std::map<std::string, std::uint64_t> refusals;  // reason -> combinations
  std::vector<std::string> beyond_batch;          // SearchSpace::offers_beyond_batch()
  std::vector<Leader> answers;
  std::vector<FrontPoint> front;     // by time
  std::vector<Candidate> nearest;    // where nothing satisfies: the nearest misses
  std::vector<Candidate> simulated;  // in the order of the space
  // Left out because bounds say that the memory does not suffice, where k_more_memory times of it might, and
  // that the configuration might then be the best for the question's objective.
  std::vector<BoundedAway> short_of_memory;
  std::optional<double>
      open_bound;  // where combinations are open: none of them needs less time (TrainingCosts)
  SearchTiming timing;
};

// Errors: bad_input where no combination is possible at all; run_failed where results cannot be kept.
Result<SearchResult> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options);

}  // namespace shardlab

#include "simulator/search/search.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "engine/base/in_parallel.h"
#include "simulator/search/bounded_space.h"
#include "simulator/search/equal_candidates.h"
#include "simulator/search/nearest_misses.h"

namespace shardlab {
namespace {

using Clock = std::chrono::steady_clock;

// Decisions are made between rounds, and rounds are as long for one thread as for many: so the answer, and
// what was left out for it, do not depend on threads.
constexpr std::size_t k_round = 32;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<Order> every_objective() {
  std::vector<Order> orders;
  for (const Word<SearchObjective>& each : k_words<SearchObjective>) orders.push_back({each.value, {}});
  return orders;
}

class Search {
 public:
  Search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options,
         const std::vector<Order>& orders)
      : space_(space),
        evaluator_(evaluator),
        options_(options),
        question_(space.question()),
        leaders_(question_, orders, options.best),
        begin_(Clock::now()),
        bounded_(space, evaluator, orders.front().largest, options.threads),
        estimated_in_(seconds_since(begin_)) {
    result_.space.total = space.size();
  }

  Result<SearchResult> run() {
    SHARDLAB_CHECK_OK(look_at_all());
    if (result_.space.satisfying == 0 && open_.empty()) SHARDLAB_CHECK_OK(look_at_certain_misses());
    result_.space.bounded += hopeless_.size();
    SHARDLAB_CHECK_OK(check_possible());
    finish();
    return std::move(result_);
  }

 private:
  bool has_time() const {
    if (options_.stop && options_.stop()) return false;
    return !options_.seconds || seconds_since(begin_) < *options_.seconds;
  }

  Status look_at_all() {
    const std::vector<std::uint64_t>& order = bounded_.order();
    std::vector<char> beaten(bounded_.groups(), 0);
    for (std::size_t at = 0; at < order.size();) {
      if (!has_time() && at > 0) {
        open_.assign(order.begin() + static_cast<std::ptrdiff_t>(at), order.end());
        return {};
      }
      std::vector<Configuration> round;
      std::fill(checked_.begin(), checked_.end(), 0);
      for (; at < order.size() && round.size() < k_round; ++at) {
        const std::uint32_t group = bounded_.group_of(order[at]);
        if (beaten[group] != 0) {
          ++result_.space.bounded;
          continue;
        }
        Configuration configuration = space_.at(order[at]);
        if (!configuration.divides) {
          ++result_.space.indivisible;
        } else if (!options_.exhaustive && is_beaten(group, configuration)) {
          beaten[group] = 1;
          ++result_.space.bounded;
        } else if (!options_.exhaustive && certain_miss(question_, bounded_.bounds_of(order[at])) > 0) {
          hopeless_.push_back(order[at]);
        } else {
          round.push_back(std::move(configuration));
        }
      }
      SHARDLAB_CHECK_OK(evaluate(round));
      tell(at);
    }
    return {};
  }

  // Asked once a round for each group: leaders change between rounds only.
  bool is_beaten(std::uint32_t group, const Configuration& configuration) {
    checked_.resize(bounded_.groups());
    if (checked_[group] != 0) return false;
    checked_[group] = 1;
    return leaders_.beaten(bounded_.bounds_of(configuration.index), leaders_.largest_of(configuration));
  }

  // Where nothing satisfies, those that were left out because they cannot are looked at while they might be
  // among the nearest misses.
  Status look_at_certain_misses() {
    const auto miss = [&](std::uint64_t index) { return certain_miss(question_, bounded_.bounds_of(index)); };
    std::sort(hopeless_.begin(), hopeless_.end(), [&](std::uint64_t a, std::uint64_t b) {
      return std::pair(miss(a), a) < std::pair(miss(b), b);
    });
    std::size_t at = 0;
    while (at < hopeless_.size() && has_time()) {
      std::vector<Configuration> round;
      for (; at < hopeless_.size() && round.size() < k_round; ++at) {
        if (is_farther(miss(hopeless_[at]), result_.nearest)) break;
        round.push_back(space_.at(hopeless_[at]));
      }
      if (round.empty()) break;
      SHARDLAB_CHECK_OK(evaluate(round));
    }
    hopeless_.erase(hopeless_.begin(), hopeless_.begin() + static_cast<std::ptrdiff_t>(at));
    return {};
  }

  Status evaluate(std::vector<Configuration>& round) {
    const Clock::time_point begin = Clock::now();
    std::vector<Result<Outcome>> outcomes(round.size(), Outcome{});
    in_parallel(round.size(), options_.threads,
                [&](std::size_t i) { outcomes[i] = evaluator_.evaluate(round[i].settings); });
    simulated_in_ += seconds_since(begin);
    for (std::size_t i = 0; i < round.size(); ++i) {
      SHARDLAB_TRY(Outcome outcome, std::move(outcomes[i]));
      if (outcome.refused.empty()) {
        add(candidate_of(question_, std::move(round[i]), std::move(outcome.figures)));
      } else {
        ++result_.space.refused;
        ++result_.refusals[outcome.refused];
      }
    }
    return {};
  }

  void add(Candidate candidate) {
    candidate.figures.metrics.clear();  // they were asked; thousands of candidates are kept
    ++result_.space.simulated;
    if (candidate.satisfies()) {
      ++result_.space.satisfying;
      leaders_.add(candidate);
    } else {
      const bool memory = std::any_of(candidate.misses.begin(), candidate.misses.end(),
                                      [](const Miss& miss) { return miss.of_memory; });
      ++(memory ? result_.space.not_fitting : result_.space.unmet);
      add_near(candidate, result_.nearest);
    }
    result_.simulated.push_back(std::move(candidate));
  }

  void tell(std::size_t done) const {
    if (options_.progress)
      options_.progress({done, result_.space.total, static_cast<std::int64_t>(result_.space.simulated)});
  }

  Status check_possible() const {
    const SpaceCounts& space = result_.space;
    if (space.simulated > 0 || space.bounded > 0 || !open_.empty()) return {};
    const Place place = in_file(question_.file);
    if (space.refused == 0)
      return bad_input(
          named(place, "keep.global_batch"),
          fmt::format("{} sequences are divided by no number of GPUs times a micro-batch in this search",
                      question_.global_batch.value_or(0)),
          "choose another batch, other micro-batches or other numbers of nodes");
    const auto most = std::max_element(result_.refusals.begin(), result_.refusals.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return bad_input(
        place,
        fmt::format("none of {} combinations is possible; {} of them because {}", space.total, most->second,
                    most->first),
        space.indivisible > 0 ? fmt::format("{} do not divide the global batch", space.indivisible) : "");
  }

  void finish() {
    result_.beyond_batch = space_.offers_beyond_batch();
    result_.answers = leaders_.leaders();
    std::erase_if(result_.answers, [](const Leader& leader) { return !leader.best; });
    for (Leader& leader : result_.answers) leader.nearest_equal = nearest_equal(leader, result_.simulated);
    result_.front = folded_front(leaders_.front());
    if (result_.space.satisfying > 0) result_.nearest.clear();
    std::sort(result_.simulated.begin(), result_.simulated.end(), [](const Candidate& a, const Candidate& b) {
      return a.configuration.index < b.configuration.index;
    });
    find_short_of_memory();
    result_.space.open = open_.size();
    if (!open_.empty()) result_.open_bound = bounded_.bounds_of(open_.front()).costs.time;
    result_.timing.seconds = seconds_since(begin_);
    const auto rate = [&](double count, double seconds) {
      return seconds > 0 ? count / seconds / std::max(1, options_.threads) : 0;
    };
    result_.timing.estimates_per_second = rate(static_cast<double>(bounded_.groups()), estimated_in_);
    result_.timing.simulations_per_second =
        rate(static_cast<double>(evaluator_.simulations()), simulated_in_);
  }

  void find_short_of_memory() {
    const Leader* const leader = leader_for(result_.answers, question_.objective);
    if (leader == nullptr) return;
    for (const std::uint64_t index : hopeless_) {
      const LowerBounds& bounds = bounded_.bounds_of(index);
      if (certain_miss(question_, with_memory(bounds, k_more_memory)) > 0) continue;
      if (may_lead(*leader, bounds, space_.at(index))) result_.short_of_memory.push_back({index, bounds});
    }
  }

  const SearchSpace& space_;
  Evaluator& evaluator_;
  const SearchOptions& options_;
  const SearchQuestion& question_;
  Leaders leaders_;
  Clock::time_point begin_;
  BoundedSpace bounded_;
  double estimated_in_, simulated_in_ = 0;
  std::vector<char> checked_;            // by group, in this round
  std::vector<std::uint64_t> hopeless_;  // a bound says that they miss a need
  std::vector<std::uint64_t> open_;      // for want of time
  SearchResult result_;
};

}  // namespace

Result<SearchResult> search(const SearchSpace& space, Evaluator& evaluator, const SearchOptions& options) {
  const std::vector<Order> orders = options.orders.empty() ? every_objective() : options.orders;
  return Search(space, evaluator, options, orders).run();
}

}  // namespace shardlab

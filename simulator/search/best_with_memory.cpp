#include "simulator/search/best_with_memory.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "engine/base/in_parallel.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {
namespace {

// Rounds are as long for one thread as for many, as those of the search.
constexpr std::size_t k_tries_of_round = 8;
constexpr std::size_t k_most_tries = 128;

// One that memory kept from being the best, as far as is known.
struct Rival {
  Rank least;  // it ranks no lower
  int changes = 0;
  std::uint64_t index = 0;

  friend bool operator<(const Rival& a, const Rival& b) {
    return std::tie(a.least, a.changes, a.index) < std::tie(b.least, b.changes, b.index);
  }
};

class Contest {
 public:
  Contest(const SearchSpace& space, Evaluator& evaluator, const Leader& leader, int threads)
      : space_(space), evaluator_(evaluator), order_(leader.order), threads_(threads) {
    best_ = {rank_of_known(*leader.best), leader.best->configuration.changes,
             leader.best->configuration.index};
  }

  Rank rank_of_known(const Candidate& candidate) const {
    return least_rank(order_, exact_bounds(candidate), candidate.configuration).value_or(Rank{});
  }

  // The lowest first, until nothing that is left may come before the best.
  Status hold(std::vector<Rival> rivals) {
    std::sort(rivals.begin(), rivals.end());
    std::size_t at = 0;
    const auto goes_on = [&] { return at < rivals.size() && !(best_.least < rivals[at].least); };
    while (goes_on() && tried_ < k_most_tries) {
      std::vector<std::uint64_t> round;
      for (; goes_on() && round.size() < k_tries_of_round; ++at) round.push_back(rivals[at].index);
      tried_ += round.size();
      SHARDLAB_CHECK_OK(try_all(round));
    }
    for (; goes_on(); ++at) ++untried_;
    return {};
  }

  BestWithMemory result() && { return {std::move(candidate_), untried_}; }

 private:
  Result<Outcome> outcome_of(Configuration& configuration) {
    const Result<Scenario> scenario = evaluator_.scenario_with(configuration.settings);
    if (scenario)
      configuration = space_.with(configuration.index, settings_for_more_memory(*scenario->cluster));
    return evaluator_.evaluate(configuration.settings);  // which says why a scenario is refused
  }

  Status try_all(const std::vector<std::uint64_t>& round) {
    std::vector<Configuration> configurations;
    for (const std::uint64_t index : round) configurations.push_back(space_.at(index));
    std::vector<Result<Outcome>> outcomes(round.size(), Outcome{});
    in_parallel(round.size(), threads_, [&](std::size_t i) { outcomes[i] = outcome_of(configurations[i]); });
    for (std::size_t i = 0; i < round.size(); ++i) {
      SHARDLAB_TRY(Outcome outcome, std::move(outcomes[i]));
      if (outcome.refused.empty())
        compare(candidate_of(space_.question(), std::move(configurations[i]), std::move(outcome.figures)));
    }
    return {};
  }

  void compare(Candidate candidate) {
    if (!candidate.satisfies()) return;
    const Rival rival{rank_of_known(candidate), candidate.configuration.changes,
                      candidate.configuration.index};
    if (!(rival < best_)) return;
    best_ = rival;
    candidate_ = std::move(candidate);
  }

  const SearchSpace& space_;
  Evaluator& evaluator_;
  const Order& order_;
  int threads_;
  Rival best_;
  std::optional<Candidate> candidate_;
  std::size_t tried_ = 0, untried_ = 0;
};

bool lacks_memory(const Candidate& candidate) {
  return std::any_of(candidate.misses.begin(), candidate.misses.end(),
                     [](const Miss& miss) { return miss.of_memory; });
}

}  // namespace

std::vector<std::string> settings_for_more_memory(const ClusterSpec& cluster) {
  std::vector<std::string> settings;
  if (cluster.device != DeviceKind::cpu)
    settings.push_back(fmt::format("cluster.suppose.memory={}", k_more_memory * cluster.suppose.memory));
  if (cluster.memory_limit) {
    const double more = static_cast<double>(cluster.memory_limit->value) * k_more_memory;
    settings.push_back(fmt::format("cluster.memory_limit={}B", std::llround(more)));
  }
  return settings;
}

Result<BestWithMemory> best_with_memory(const SearchSpace& space, Evaluator& evaluator,
                                        const SearchResult& result, const Leader& leader, int threads) {
  std::vector<Rival> known, bounded;
  const auto add = [&](const LowerBounds& bounds, const Configuration& configuration,
                       std::vector<Rival>& rivals) {
    if (may_lead(leader, bounds, configuration))
      rivals.push_back(
          {*least_rank(leader.order, bounds, configuration), configuration.changes, configuration.index});
  };
  for (const Candidate& each : result.simulated) {
    const LowerBounds bounds = exact_bounds(each);
    if (lacks_memory(each) && certain_miss(space.question(), with_memory(bounds, k_more_memory)) == 0)
      add(bounds, each.configuration, known);
  }
  for (const BoundedAway& each : result.short_of_memory) add(each.bounds, space.at(each.index), bounded);
  Contest contest(space, evaluator, leader, threads);
  SHARDLAB_CHECK_OK(contest.hold(std::move(known)));
  SHARDLAB_CHECK_OK(contest.hold(std::move(bounded)));
  return std::move(contest).result();
}

}  // namespace shardlab

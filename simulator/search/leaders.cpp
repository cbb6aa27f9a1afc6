#include "simulator/search/leaders.h"

#include <algorithm>
#include <limits>

#include "engine/base/parse.h"

namespace shardlab {
namespace {

struct Point {
  double time, memory;
  std::optional<double> money;
};

Point point_of(const Candidate& candidate) {
  return {candidate.costs.time, static_cast<double>(candidate.figures.memory().value), candidate.costs.money};
}

// Better in everything. Where only one has a price they do not compare.
bool strictly_beats(const Point& a, const Point& b) {
  if (a.money.has_value() != b.money.has_value()) return false;
  return a.time < b.time && a.memory < b.memory && (!a.money || *a.money < *b.money);
}

// As good in everything and better in something.
bool dominates(const Point& a, const Point& b) {
  if (a.money.has_value() != b.money.has_value()) return false;
  const double of_a = a.money.value_or(0), of_b = b.money.value_or(0);
  const bool as_good = a.time <= b.time && a.memory <= b.memory && of_a <= of_b;
  return as_good && (a.time < b.time || a.memory < b.memory || of_a < of_b);
}

// The last rank that is equal to this one. Where time is all that is compared, or money, it stands first.
Rank last_equal(const Order& order, const Rank& best) {
  const bool first = order.largest.empty() &&
                     (order.objective == SearchObjective::time || order.objective == SearchObjective::money);
  if (first) return {best[0] * (1 + k_equal), std::numeric_limits<double>::infinity()};
  return {best[0], best[1] * (1 + k_equal)};
}

// First by rank, then the nearer to the defaults.
bool comes_before(const Rank& rank, const Candidate& a, const Rank& other, const Candidate& b) {
  if (rank != other) return rank < other;
  return nearer_to_defaults(a.configuration, b.configuration);
}

}  // namespace

std::optional<double> number_given(const std::vector<std::string>& settings, const std::string& key) {
  for (auto each = settings.rbegin(); each != settings.rend(); ++each) {
    const std::size_t equals = each->find('=');
    if (each->substr(0, equals) != key) continue;
    const std::string value = each->substr(equals + 1);
    if (const auto integer = parse_integer(value)) return static_cast<double>(*integer);
    if (const auto number = parse_fraction(value)) return *number;
    if (const auto bytes = parse_bytes(value)) return static_cast<double>(bytes->value);
    if (const auto time = parse_duration(value)) return static_cast<double>(time->value);
    return std::nullopt;
  }
  return std::nullopt;
}

bool nearer_to_defaults(const Configuration& a, const Configuration& b) {
  return a.changes != b.changes ? a.changes < b.changes : a.index < b.index;
}

std::optional<Rank> rank_of(const Order& order, double time, std::optional<double> money, int gpus,
                            std::int64_t micro_batch, double largest) {
  if (!order.largest.empty()) return Rank{-largest, time};
  switch (order.objective) {
    case SearchObjective::time: return Rank{time, 0};
    case SearchObjective::money: return money ? std::optional(Rank{*money, time}) : std::nullopt;
    case SearchObjective::gpus: return Rank{static_cast<double>(gpus), time};
    case SearchObjective::batch: return Rank{-static_cast<double>(micro_batch), time};
  }
  return std::nullopt;
}

const Leader* leader_for(const std::vector<Leader>& leaders, SearchObjective objective) {
  const auto found = std::find_if(leaders.begin(), leaders.end(), [&](const Leader& leader) {
    return leader.order.largest.empty() && leader.order.objective == objective;
  });
  if (found != leaders.end()) return &*found;
  return leaders.empty() ? nullptr : &leaders.front();
}

std::optional<Rank> least_rank(const Order& order, const LowerBounds& bounds,
                               const Configuration& configuration) {
  const double largest =
      order.largest.empty() ? 0 : number_given(configuration.settings, order.largest).value_or(0);
  return rank_of(order, bounds.costs.time, bounds.costs.money, bounds.gpus, bounds.micro_batch, largest);
}

bool may_lead(const Leader& leader, const LowerBounds& bounds, const Configuration& configuration) {
  const auto least = least_rank(leader.order, bounds, configuration);
  const auto best = least_rank(leader.order, exact_bounds(*leader.best), leader.best->configuration);
  return least && best && !(*best < *least);
}

Leaders::Leaders(const SearchQuestion& question, std::vector<Order> orders, std::size_t wanted)
    : question_(question), wanted_(wanted) {
  for (Order& order : orders) leaders_.push_back({std::move(order), {}, {}});
  ranks_.resize(leaders_.size());
}

void Leaders::keep_rank(std::size_t leader, const Rank& rank) {
  std::vector<Rank>& ranks = ranks_[leader];
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (at != ranks.end() && *at == rank) return;
  ranks.insert(at, rank);
  if (ranks.size() > wanted_) ranks.pop_back();
}

double Leaders::largest_of(const Configuration& configuration) const {
  for (const Leader& leader : leaders_) {
    if (leader.order.largest.empty()) continue;
    if (const auto number = number_given(configuration.settings, leader.order.largest)) return *number;
  }
  return 0;
}

void Leaders::add(const Candidate& candidate) {
  const auto rank = [this](const Order& order, const Candidate& each) {
    return rank_of(order, each.costs.time, each.costs.money, each.configuration.gpus,
                   each.configuration.micro_batch, largest_of(each.configuration));
  };
  for (std::size_t i = 0; i < leaders_.size(); ++i) {
    Leader& leader = leaders_[i];
    const auto mine = rank(leader.order, candidate);
    if (!mine) continue;
    keep_rank(i, *mine);
    const auto before = [&](const std::optional<Candidate>& other) {
      return !other || comes_before(*mine, candidate, *rank(leader.order, *other), *other);
    };
    const auto same = [&](const std::optional<Candidate>& other) {
      return other && predicted_equal(candidate.figures, other->figures) &&
             rank(leader.order, *other) == mine;
    };
    if (same(leader.best)) {
      if (before(leader.best)) leader.best = candidate;
    } else if (before(leader.best)) {
      if (!same(leader.best)) leader.second = std::exchange(leader.best, candidate);
    } else if (before(leader.second)) {
      leader.second = candidate;
    }
  }
  const Point point = point_of(candidate);
  if (std::any_of(front_.begin(), front_.end(),
                  [&](const Candidate& each) { return dominates(point_of(each), point); }))
    return;
  std::erase_if(front_, [&](const Candidate& each) { return dominates(point, point_of(each)); });
  front_.push_back(candidate);
}

bool Leaders::beaten(const LowerBounds& bounds, double largest) const {
  for (std::size_t i = 0; i < leaders_.size(); ++i) {
    const auto least = rank_of(leaders_[i].order, bounds.costs.time, bounds.costs.money, bounds.gpus,
                               bounds.micro_batch, largest);
    if (!least) continue;
    if (ranks_[i].size() < wanted_ || !(ranks_[i].back() < *least)) return false;
    if (!(last_equal(leaders_[i].order, ranks_[i].front()) < *least)) return false;
  }
  const Point point{bounds.costs.time, static_cast<double>(bounds.memory.value), bounds.costs.money};
  return std::any_of(front_.begin(), front_.end(),
                     [&](const Candidate& each) { return strictly_beats(point_of(each), point); });
}

}  // namespace shardlab

#include "simulator/search/leaders.h"

#include <algorithm>

#include "simulator/search/equal_candidates.h"
#include "simulator/search/search.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

Candidate made_up(std::uint64_t index, double time, std::int64_t memory, std::optional<double> money,
                  int gpus) {
  Candidate candidate;
  candidate.configuration.index = index;
  candidate.configuration.gpus = gpus;
  candidate.configuration.changes = static_cast<int>(index % 3);
  candidate.figures.step_time = {static_cast<std::int64_t>(time)};
  candidate.figures.peak_allocated = {memory};
  candidate.costs.time = time;
  candidate.costs.money = money;
  return candidate;
}

std::vector<std::uint64_t> indices(const Leaders& leaders) {
  std::vector<std::uint64_t> all;
  for (const Leader& leader : leaders.leaders()) {
    all.push_back(leader.best ? leader.best->configuration.index : 999);
    all.push_back(leader.second ? leader.second->configuration.index : 999);
  }
  std::vector<std::uint64_t> front;
  for (const Candidate& each : leaders.front()) front.push_back(each.configuration.index);
  std::sort(front.begin(), front.end());
  all.insert(all.end(), front.begin(), front.end());
  return all;
}

}  // namespace

TEST_CASE("who may still lead is said by the order of a leader") {
  const std::vector<Leader> leaders = {
      {{SearchObjective::gpus, {}}, made_up(1, 10, 100, 50, 8), {}},
      {{SearchObjective::money, {}}, made_up(2, 20, 100, 40, 16), {}},
  };
  CHECK(leader_for(leaders, SearchObjective::money) == &leaders[1]);
  CHECK(leader_for(leaders, SearchObjective::time) == &leaders[0]);
  CHECK(leader_for({}, SearchObjective::time) == nullptr);
  const auto may = [](const Leader& leader, const Candidate& candidate) {
    return may_lead(leader, exact_bounds(candidate), candidate.configuration);
  };
  CHECK(may(leaders[0], made_up(3, 10, 0, 90, 8)));  // as good
  CHECK_FALSE(may(leaders[0], made_up(3, 11, 0, 90, 8)));
  CHECK_FALSE(may(leaders[0], made_up(3, 1, 0, 1, 16)));
  CHECK(may(leaders[1], made_up(3, 99, 0, 39, 64)));
  CHECK_FALSE(may(leaders[1], made_up(3, 1, 0, std::nullopt, 1)));  // nobody knows its price
}

// Few different figures, so that many candidates are equal in some or in all.
TEST_CASE("the leaders do not depend on the order in which candidates come") {
  test::Numbers numbers(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Candidate> candidates;
    for (std::uint64_t i = 0; i < 12; ++i) {
      const double time = static_cast<double>(1 + numbers.below(3));
      const auto memory = static_cast<std::int64_t>(1 + numbers.below(3));
      const double money = time * static_cast<double>(1 + numbers.below(2));
      candidates.push_back(made_up(i, time, memory,
                                   numbers.below(4) == 0 ? std::nullopt : std::optional(money),
                                   static_cast<int>(8 * (1 + numbers.below(2)))));
    }
    const SearchQuestion question;
    const std::vector<Order> orders = {
        {SearchObjective::time, {}}, {SearchObjective::money, {}}, {SearchObjective::gpus, {}}};
    Leaders one(question, orders), other(question, orders);
    for (const Candidate& each : candidates) one.add(each);
    for (std::size_t i = candidates.size(); i > 1; --i)
      std::swap(candidates[i - 1], candidates[numbers.below(i)]);
    for (const Candidate& each : candidates) other.add(each);
    CHECK(indices(one) == indices(other));
  }
}

TEST_CASE("a bound beats nothing that could still be second, or on the front") {
  const SearchQuestion question;
  Leaders leaders(question, {{SearchObjective::time, {}}});
  LowerBounds bounds;
  bounds.costs.time = 5;
  bounds.memory = {50};
  leaders.add(made_up(0, 1, 10, {}, 8));
  CHECK(!leaders.beaten(bounds, 0));  // it might be the runner-up
  leaders.add(made_up(1, 2, 20, {}, 8));
  CHECK(leaders.beaten(bounds, 0));
  bounds.memory = {5};
  CHECK(!leaders.beaten(bounds, 0));  // it might need less memory
  bounds.memory = {50};
  bounds.costs.time = 2;
  CHECK(!leaders.beaten(bounds, 0));  // it might be as fast as the runner-up
  bounds.costs.time = 5;
  bounds.costs.money = 1;
  CHECK(!leaders.beaten(bounds, 0));  // of the others no price is known
}

TEST_CASE("a bound beats nothing that could equal the best") {
  const SearchQuestion question;
  Leaders leaders(question, {{SearchObjective::time, {}}});
  leaders.add(made_up(0, 1000, 10, {}, 8));
  leaders.add(made_up(1, 1001, 20, {}, 8));
  LowerBounds bounds;
  bounds.memory = {50};
  bounds.costs.time = 1000 * (1 + k_equal);
  CHECK(!leaders.beaten(bounds, 0));
  bounds.costs.time += 1;
  CHECK(leaders.beaten(bounds, 0));
}

// made_up() changes as many knobs as the index leaves when it is divided by 3.
TEST_CASE("of equals the nearest to the scenario is recommended, then the one with less memory") {
  const auto taken = [](const std::vector<Candidate>& candidates) {
    const SearchQuestion question;
    Leaders leaders(question, {{SearchObjective::time, {}}});
    for (const Candidate& each : candidates) leaders.add(each);
    Leader leader = leaders.leaders().front();
    leader.nearest_equal = nearest_equal(leader, candidates);
    return recommended(leader).configuration.index;
  };
  const Candidate best = made_up(1, 1000, 20, {}, 8);
  CHECK(taken({best, made_up(3, 1004, 30, {}, 8)}) == 3);   // as given
  CHECK(taken({best, made_up(2, 1004, 10, {}, 8)}) == 1);   // farther
  CHECK(taken({best, made_up(4, 1004, 10, {}, 8)}) == 4);   // as near, less memory
  CHECK(taken({best, made_up(4, 1004, 30, {}, 8)}) == 1);   // as near, more memory
  CHECK(taken({best, made_up(3, 1006, 10, {}, 8)}) == 1);   // told apart
  CHECK(taken({best, made_up(3, 1004, 10, {}, 16)}) == 1);  // other devices
  CHECK(taken({best, made_up(3, 1004, 30, {}, 8), made_up(6, 1001, 31, {}, 8)}) == 3);
  Candidate missing = made_up(3, 1004, 10, {}, 8);
  missing.misses.push_back({1, false, "slow"});
  CHECK(taken({best}) == 1);
  const Leader leader{{SearchObjective::time, {}}, best, {}};
  CHECK(!nearest_equal(leader, {best, missing}));
}

TEST_CASE("a point of the front that another equals with less memory is one row with it") {
  const auto rows = [](const std::vector<Candidate>& front) {
    std::vector<std::pair<std::uint64_t, int>> found;
    for (const FrontPoint& each : folded_front(front))
      found.emplace_back(each.candidate.configuration.index, each.alike);
    return found;
  };
  using Rows = std::vector<std::pair<std::uint64_t, int>>;
  CHECK(rows({made_up(0, 1000, 100, {}, 8), made_up(1, 1004, 90, {}, 8)}) == Rows{{1, 1}});
  CHECK(rows({made_up(0, 1000, 100, {}, 8), made_up(1, 1006, 90, {}, 8)}) == Rows{{0, 0}, {1, 0}});
  // Each equals the next, and the first is told from the last.
  CHECK(rows({made_up(0, 1000, 100, {}, 8), made_up(1, 1004, 90, {}, 8), made_up(2, 1008, 80, {}, 8)}) ==
        Rows{{0, 0}, {2, 1}});
  // As fast, and dearer.
  CHECK(rows({made_up(0, 1000, 100, 5.0, 8), made_up(1, 1001, 90, 6.0, 8)}) == Rows{{0, 0}, {1, 0}});
}

TEST_CASE("where more of the best are wanted a bound beats nothing that could be one of them") {
  const SearchQuestion question;
  Leaders leaders(question, {{SearchObjective::time, {}}}, 3);
  LowerBounds bounds;
  bounds.costs.time = 5;
  bounds.memory = {50};
  leaders.add(made_up(0, 1, 10, {}, 8));
  leaders.add(made_up(1, 2, 20, {}, 8));
  leaders.add(made_up(2, 2, 30, {}, 8));
  CHECK(!leaders.beaten(bounds, 0));  // two of them take the same time
  leaders.add(made_up(3, 4, 40, {}, 8));
  CHECK(leaders.beaten(bounds, 0));
  bounds.costs.time = 3;
  CHECK(!leaders.beaten(bounds, 0));  // it might be the third
}

}  // namespace shardlab

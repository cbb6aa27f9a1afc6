#include "simulator/search/report/measured_ranking.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

namespace shardlab {
namespace {

Candidate candidate(std::uint64_t index, std::int64_t step, int changes = 0) {
  Candidate each;
  each.configuration.index = index;
  each.configuration.changes = changes;
  each.configuration.gpus = 8;
  each.figures.step_time = each.figures.first_step = {step};
  each.figures.tokens = 1000;
  each.costs = training_costs({}, steps_of(each.configuration, each.figures), {});
  return each;
}

}  // namespace

TEST_CASE("the best are those that satisfy, equal predictions once") {
  SearchResult result;
  result.simulated = {candidate(0, 300), candidate(1, 100, 2), candidate(2, 100, 1), candidate(3, 200),
                      candidate(4, 50)};
  result.simulated[4].misses.push_back({1, true, "too large"});
  const std::vector<Candidate> best = best_of({SearchObjective::time, {}}, result, 3);
  REQUIRE(best.size() == 3);
  CHECK(best[0].configuration.index == 2);
  CHECK(best[1].configuration.index == 3);
  CHECK(best[2].configuration.index == 0);
}

// The first two pairs with the third are in order, the first before the second is not; the fourth did not
// run.
TEST_CASE("runs beside predictions: order, regret, and the new ranking") {
  std::vector<MeasuredCandidate> rows;
  for (const std::int64_t step : {100, 200, 300, 400})
    rows.push_back({candidate(rows.size(), step), {}, "r"});
  rows[0].step_time = Nanoseconds{120};
  rows[1].step_time = Nanoseconds{100};
  rows[2].step_time = Nanoseconds{300};
  const MeasuredRanking ranking = rank_measured({}, {SearchObjective::time, {}}, rows);
  CHECK(ranking.pairs == 3);
  CHECK(ranking.in_order == 2);
  CHECK(*ranking.regret == Approx(0.2));
  CHECK(ranking.order == std::vector<std::size_t>{1, 0, 2});
  CHECK(!ranking.measured[3]);
  const auto json = measured_ranking_json({SearchObjective::time, {}}, ranking);
  CHECK(json["measured_order"] == std::vector<int>{2, 1, 3});
  CHECK(json["candidates"][3]["measured_step_ns"].is_null());
}

}  // namespace shardlab

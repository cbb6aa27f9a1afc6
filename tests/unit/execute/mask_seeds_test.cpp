// The masks of a sequence do not depend on which rank has it.
#include "engine/execute/mask_seeds.h"

#include <set>

#include "engine/execute/training_data.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/train_spec.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

Scenario job(int ranks, int micro_batch, int accumulation) {
  Scenario scenario;
  scenario.cluster->device = DeviceKind::cpu;
  scenario.cluster->ranks = ranks;
  scenario.train->micro_batch = micro_batch;
  scenario.train->accumulation = accumulation;
  return scenario;
}

// All of a step, in the order of its global batch.
std::vector<std::uint64_t> of_step(const Scenario& scenario, std::int64_t step, std::size_t operation) {
  std::vector<std::uint64_t> all;
  const BatchOrder order = batch_order(scenario);
  for (int rank = 0; rank < order.ranks; ++rank) {
    for (int micro_batch = 0; micro_batch < order.accumulation; ++micro_batch) {
      const auto seeds = mask_seeds(scenario, step, rank, micro_batch, operation);
      all.insert(all.end(), seeds.begin(), seeds.end());
    }
  }
  return all;
}

}  // namespace

TEST_CASE("masks are the same however the global batch is dealt out") {
  const auto alone = of_step(job(1, 12, 1), 3, 7);
  REQUIRE(alone.size() == 12);
  CHECK(of_step(job(1, 1, 12), 3, 7) == alone);
  CHECK(of_step(job(4, 3, 1), 3, 7) == alone);
  CHECK(of_step(job(2, 2, 3), 3, 7) == alone);
}

TEST_CASE("masks differ between sequences, steps, operators and seeds of the run") {
  std::set<std::uint64_t> all;
  std::size_t count = 0;
  for (const std::int64_t seed : {1, 2}) {
    Scenario scenario = job(2, 3, 2);
    scenario.train->seed = seed;
    for (const std::int64_t step : {0, 1, 2}) {
      for (const std::size_t operation : {0, 1, 50}) {
        const auto seeds = of_step(scenario, step, operation);
        all.insert(seeds.begin(), seeds.end());
        count += seeds.size();
      }
    }
  }
  CHECK(all.size() == count);
}

}  // namespace shardlab::test

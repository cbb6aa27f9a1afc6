#include "engine/plan/group_ranks.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

Scenario eight_ranks(int replicate, int shard) {
  Scenario scenario;
  scenario.cluster.device = "cpu";
  scenario.cluster.ranks = 8;
  scenario.parallel.strategy = "fsdp2";
  scenario.parallel.mesh.replicate = replicate;
  scenario.parallel.mesh.shard = shard;
  return scenario;
}

TEST_CASE("ranks of a shard group are neighbours, those of a replicate group lie a shard group apart") {
  const Scenario scenario = eight_ranks(2, 4);
  CHECK(ranks_of_group({"shard", 4}, scenario, 1) == std::vector<int>{0, 1, 2, 3});
  CHECK(ranks_of_group({"shard", 4}, scenario, 6) == std::vector<int>{4, 5, 6, 7});
  CHECK(ranks_of_group({"replicate", 2}, scenario, 1) == std::vector<int>{1, 5});
  CHECK(ranks_of_group({"replicate", 2}, scenario, 6) == std::vector<int>{2, 6});
}

TEST_CASE("the world holds every rank") {
  CHECK(ranks_of_group({"world", 8}, eight_ranks(1, 8), 3) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

}  // namespace
}  // namespace shardlab

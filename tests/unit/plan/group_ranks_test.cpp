#include "engine/plan/group_ranks.h"

#include <algorithm>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using D = GroupDimension;

Scenario eight_ranks(int replicate, int shard) {
  Scenario scenario;
  scenario.cluster->device = DeviceKind::cpu;
  scenario.cluster->ranks = 8;
  scenario.parallel->strategy = "fsdp2";
  scenario.parallel->mesh.replicate = replicate;
  scenario.parallel->mesh.shard = shard;
  return scenario;
}

TEST_CASE("ranks of a shard group are neighbours, those of a replicate group lie a shard group apart") {
  const Scenario scenario = eight_ranks(2, 4);
  CHECK(ranks_of_group({{D::shard}, 4}, scenario, 1) == std::vector<int>{0, 1, 2, 3});
  CHECK(ranks_of_group({{D::shard}, 4}, scenario, 6) == std::vector<int>{4, 5, 6, 7});
  CHECK(ranks_of_group({{D::replicate}, 2}, scenario, 1) == std::vector<int>{1, 5});
  CHECK(ranks_of_group({{D::replicate}, 2}, scenario, 6) == std::vector<int>{2, 6});
}

TEST_CASE("sub-groups of a shard group are neighbours inside it") {
  const Scenario scenario = eight_ranks(2, 4);
  CHECK(ranks_of_group({{D::shard, 2}, 2}, scenario, 0) == std::vector<int>{0, 1});
  CHECK(ranks_of_group({{D::shard, 2}, 2}, scenario, 3) == std::vector<int>{2, 3});
  CHECK(ranks_of_group({{D::shard, 2}, 2}, scenario, 6) == std::vector<int>{6, 7});
  CHECK(ranks_of_group({{D::shard, 4}, 4}, eight_ranks(1, 8), 5) == std::vector<int>{4, 5, 6, 7});
  CHECK(ranks_of_group({{D::replicate, 2}, 2}, eight_ranks(4, 2), 7) == std::vector<int>{5, 7});
}

TEST_CASE("a group across sub-groups has the ranks at one place of each") {
  const auto across = [](D dimension, int part) { return RankSet{dimension, part, false, true}; };
  CHECK(ranks_of_group({across(D::shard, 4), 2}, eight_ranks(1, 8), 1) == std::vector<int>{1, 5});
  CHECK(ranks_of_group({across(D::shard, 2), 4}, eight_ranks(1, 8), 6) == std::vector<int>{0, 2, 4, 6});
  CHECK(ranks_of_group({across(D::shard, 2), 2}, eight_ranks(2, 4), 7) == std::vector<int>{5, 7});
}

TEST_CASE("every rank is in exactly one group of each expression, and all its members agree on it") {
  const Scenario scenario = eight_ranks(2, 4);
  for (const Group& group : {Group{{D::shard}, 4}, Group{{D::replicate}, 2}, Group{{D::shard, 2}, 2},
                             Group{{D::shard, 2, false, true}, 2}, Group{{D::world}, 8}}) {
    INFO(to_text(group.ranks));
    for (int rank = 0; rank < 8; ++rank) {
      const std::vector<int> members = ranks_of_group(group, scenario, rank);
      CHECK(std::count(members.begin(), members.end(), rank) == 1);
      for (const int member : members) CHECK(ranks_of_group(group, scenario, member) == members);
    }
  }
}

TEST_CASE("the world holds every rank") {
  CHECK(ranks_of_group({{D::world}, 8}, eight_ranks(1, 8), 3) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a rank set reads back from its text") {
  const std::vector<std::pair<std::string, RankSet>> known{{"world", {}},
                                                           {"replicate", {D::replicate}},
                                                           {"shard/2", {D::shard, 2}},
                                                           {"shard:2", {D::shard, 2, false, true}},
                                                           {"teacher.shard", {D::shard, 0, true}},
                                                           {"teacher.shard/4", {D::shard, 4, true}},
                                                           {"ranks_8", {D::ranks, 8}}};
  for (const auto& [text, ranks] : known) {
    INFO(text);
    CHECK(to_text(ranks) == text);
    CHECK(parse_rank_set(text) == ranks);
  }
  for (const char* text : {"", "shards", "shard/", "shard/0", "shard/-2", "shard/2x", "shard_2", "ranks/8",
                           "ranks:8", "shard:0", "teacher.", "teacher", "student.shard"})
    CHECK_FALSE(parse_rank_set(text));
}

}  // namespace
}  // namespace shardlab

// Buckets of ZeRO-1 and ZeRO-2, computed by hand.
#include "engine/strategies/zero/gradient_buckets.h"

#include <algorithm>

#include "tests/catch.h"

namespace shardlab {
namespace {

// One-dimensional parameters of these sizes.
ModelGraph graph_of(const std::vector<std::int64_t>& sizes) {
  ModelGraph graph;
  for (const std::int64_t size : sizes) {
    Parameter parameter;
    parameter.shape = {size};
    graph.parameters.push_back(parameter);
  }
  return graph;
}

std::vector<ParameterId> all_of(const ModelGraph& graph) {
  std::vector<ParameterId> ids;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) ids.push_back(make_id<ParameterId>(i));
  return ids;
}

ParameterLayout partition_of(const ModelGraph& graph, int ranks) {
  return make_layout(graph, all_of(graph), ranks, 1, 2);
}

}  // namespace

// DeepSpeed 0.19.8 on 4 ranks: bit16_groups_flat of 4500 elements has 4504, single_partition_of_fp32_groups
// 1126.
TEST_CASE("the flat group of ZeRO ends at a multiple of twice the ranks") {
  const ModelGraph graph = graph_of({200, 1000, 1000, 1000, 1000, 300});
  const ParameterLayout layout = partition_of(graph, 4);
  CHECK(layout.flat_elements == 4504);
  CHECK(layout.flat_shard_elements() == 1126);
  CHECK(make_layout(graph, all_of(graph), 4).flat_elements == 4500);
}

TEST_CASE("a gradient that does not fit opens the next bucket, a larger one is a bucket of its own") {
  const ModelGraph graph = graph_of({30, 30, 30, 100, 20});
  const auto buckets = gradient_buckets(graph, all_of(graph), 60, partition_of(graph, 2));
  REQUIRE(buckets.size() == 4);
  CHECK(buckets[0].elements == 60);
  CHECK(buckets[1].elements == 30);
  CHECK(buckets[2].elements == 100);
  CHECK(buckets[3].elements == 20);
  CHECK_FALSE(buckets[0].oversized);
  CHECK(buckets[2].oversized);
}

// 212 elements, 106 a rank: the first rank owns 90 and the first 16 of the fourth parameter.
TEST_CASE("slices are runs of one owner; a gradient larger than a bucket is sent in pieces") {
  const ModelGraph graph = graph_of({30, 30, 30, 100, 20});
  const auto buckets = gradient_buckets(graph, all_of(graph), 60, partition_of(graph, 2));
  REQUIRE(buckets[0].sent.size() == 1);
  CHECK(buckets[0].sent[0].slices == 1);
  REQUIRE(buckets[2].sent.size() == 1);
  CHECK(buckets[2].sent[0].slices == 2);
  CHECK(buckets[2].sent[0].elements == 100);

  const ModelGraph large = graph_of({200});
  const auto alone = gradient_buckets(large, all_of(large), 60, partition_of(large, 2));
  REQUIRE(alone[0].sent.size() == 2);
  CHECK(alone[0].sent[0].elements == 100);
  CHECK(alone[0].sent[1].first == 100);
  CHECK(alone[0].sent[1].elements == 100);
}

// Backward makes the last parameter first: 20 elements of rank 1, then 84 of rank 1 and 16 of rank 0 before
// the others of rank 0.
TEST_CASE("sent owner by owner, each receives a range of the parameters it owns something of") {
  const ModelGraph graph = graph_of({30, 30, 30, 100, 20});
  std::vector<ParameterId> backward = all_of(graph);
  std::reverse(backward.begin(), backward.end());
  const ParameterLayout partition = partition_of(graph, 2);
  const auto buckets = gradient_buckets(graph, backward, 150, partition);
  REQUIRE(buckets[0].elements == 150);  // the last three
  const std::vector<SentToOwner> sent = sent_to_owners(buckets[0], partition);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0].owner == 1);
  CHECK(sent[0].parameters == std::vector{make_id<ParameterId>(3), make_id<ParameterId>(4)});
  CHECK(sent[0].first == 16);
  CHECK(sent[0].elements == 104);
  CHECK(sent[1].owner == 0);
  CHECK(sent[1].parameters == std::vector{make_id<ParameterId>(2), make_id<ParameterId>(3)});
  CHECK(sent[1].first == 0);
  CHECK(sent[1].elements == 46);
}

TEST_CASE("whole gradients of the parameters of a part are counted at the rank that has most") {
  const ModelGraph graph = graph_of({30, 30, 30, 100, 20});
  CHECK(most_touched_elements(partition_of(graph, 2)) == 190);
}

}  // namespace shardlab

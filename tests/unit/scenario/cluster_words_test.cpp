#include "engine/scenario/cluster_words.h"

#include "engine/scenario/cluster_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::string words_of(const std::string& cluster) {
  const auto scenario = scenario_of_cluster(cluster);
  REQUIRE_OK(scenario);
  return cluster_words(*scenario->cluster).value();
}

TEST_CASE("a cluster in a few words") {
  CHECK(words_of("{node: hgx-h100}") == "8 x H100-SXM (dgx-h100)");
  CHECK(words_of("{node: hgx-h100, nodes: 4}") == "4 x 8 x H100-SXM (dgx-h100)");
  CHECK(words_of("{gpu: H100-SXM, gpus_per_node: 1}") == "1 x H100-SXM");
  CHECK(words_of("{device: cpu, ranks: 2}") == "2 processors");
  CHECK(words_of("{device: cpu, ranks: 1}") == "1 processor");
}

}  // namespace
}  // namespace shardlab

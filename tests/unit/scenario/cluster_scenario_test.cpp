#include "engine/scenario/cluster_scenario.h"

#include "engine/scenario/cluster_spec.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

TEST_CASE("a cluster that is not understood is told at the option, and names no file") {
  const auto unknown = scenario_of_cluster("{device: abacus}");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(message_text(unknown.error()) == "--cluster: cluster.device: unknown device 'abacus'");
  const auto open = scenario_of_cluster("{");
  REQUIRE_FALSE(open.has_value());
  CHECK_THAT(message_text(open.error()), contains_text("--cluster: YAML syntax"));
  const auto two = scenario_of_cluster("{device: cpu, ranks: 0, colour: red}");
  REQUIRE_FALSE(two.has_value());
  CHECK(what_text(two.error()).find("probes.yaml") == std::string::npos);
}

TEST_CASE("any number of ranks is a cluster to measure") {
  for (int ranks : {1, 3, 8}) {
    const auto scenario = scenario_of_cluster("{device: cpu, ranks: " + std::to_string(ranks) + "}");
    REQUIRE_OK(scenario);
    CHECK(scenario->cluster->ranks == ranks);
  }
}

TEST_CASE("a cluster brings no other section with it") {
  const auto two = scenario_of_cluster("{device: cpu, ranks: 2}\ntrain: {micro_batch: 4}");
  REQUIRE_FALSE(two.has_value());
  CHECK(two.error().place.file == "--cluster");
}

}  // namespace
}  // namespace shardlab::test

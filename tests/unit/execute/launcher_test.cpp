// Who started the ranks is who the scenario says; the cluster of probes.
#include "engine/execute/launch.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

PlannedScenario started_by(Launcher launcher) {
  PlannedScenario planned;
  planned.scenario.cluster->device = DeviceKind::cpu;
  planned.scenario.cluster->ranks = 2;
  planned.scenario.launch->launcher = launcher;
  return planned;
}

TEST_CASE("ranks of another launcher are not started from here") {
  const auto run = launch_run(started_by(Launcher::torchrun), LaunchOptions{});
  REQUIRE_FALSE(run.has_value());
  CHECK_THAT(to_string(run.error()),
             test::contains_text("launch.launcher: torchrun did not start this process"));
}

TEST_CASE("a rank of another launcher than the scenario's is refused") {
  RankEnvironment environment;
  environment.world = 2;
  environment.launcher = Launcher::slurm;
  const auto run = run_as_rank(started_by(Launcher::torchrun), LaunchOptions{}, environment);
  REQUIRE_FALSE(run.has_value());
  CHECK_THAT(to_string(run.error()),
             test::contains_text("launch.launcher: is torchrun, but slurm started this process"));
}

TEST_CASE("a cluster that is not understood is told at the option, and names no file") {
  const auto unknown = scenario_of_cluster("{device: abacus}");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(message_text(unknown.error()) == "--cluster: cluster.device: unknown device 'abacus'");
  const auto open = scenario_of_cluster("{");
  REQUIRE_FALSE(open.has_value());
  CHECK_THAT(message_text(open.error()), test::contains_text("--cluster: YAML syntax"));
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

}  // namespace
}  // namespace shardlab

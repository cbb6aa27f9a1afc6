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

TEST_CASE("that a launcher is missing is known before anything is started") {
  CHECK_FALSE(check_starts_here(started_by(Launcher::slurm).scenario).has_value());
  CHECK(check_starts_here(started_by(Launcher::slurm).scenario).error().kind == ErrorKind::not_possible);
  REQUIRE_OK(check_starts_here(started_by(Launcher::local).scenario));
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

}  // namespace
}  // namespace shardlab

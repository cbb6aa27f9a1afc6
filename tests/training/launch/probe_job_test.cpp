// Jobs of probes as bench and calibrate give them: ranks meet, measure and end, and nothing is trained.
#include <algorithm>
#include <fstream>

#include "engine/execute/launch.h"
#include "engine/execute/spool.h"
#include "engine/scenario/cluster_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

LaunchOptions options_in(const test::TemporaryFolder& folder) {
  LaunchOptions options;
  options.rank_program = test::programs_folder() / "shardlab-rank";
  options.run_directory = folder.path() / "run";
  return options;
}

Scenario two_ranks() {
  auto scenario = scenario_of_cluster("{device: cpu, ranks: 2}");
  REQUIRE_OK(scenario);
  return *std::move(scenario);
}

TEST_CASE("ranks with a job of probes measure them and train nothing") {
  const test::TemporaryFolder folder;
  const LaunchOptions options = options_in(folder);
  const auto run = launch_probes(
      two_ranks(), {10'000, {{"copy", {{"bytes", 1 << 20}}}, {"all_reduce", {{"bytes", 4096}}}}}, options);
  REQUIRE_OK(run);
  CHECK_FALSE(run->machine.empty());
  CHECK(run->versions.contains("torch"));
  for (const char* probe : {"copy", "all_reduce"}) {
    INFO(probe);
    const auto is_of_it = [&](const ProbeMeasurement& each) {
      return each.probe == probe && !each.samples.empty() && each.samples.front() > 0;
    };
    CHECK(std::count_if(run->measurements.begin(), run->measurements.end(), is_of_it) == 2);
  }
  for (int rank = 0; rank < 2; ++rank) {
    const auto spool = read_spool(spool_path(options.run_directory, rank));
    REQUIRE_OK(spool);
    CHECK(spool->steps.empty());
    CHECK(spool->end.has_value());
  }
}

TEST_CASE("a probe that nobody knows is refused by the ranks, with its name") {
  const test::TemporaryFolder folder;
  const auto run = launch_probes(two_ranks(), {1000, {{"telepathy", {}}}}, options_in(folder));
  REQUIRE_FALSE(run);
  CHECK(run.error().kind == ErrorKind::bad_input);
  CHECK_THAT(to_string(run.error()), test::contains_text("telepathy"));
}

}  // namespace
}  // namespace shardlab

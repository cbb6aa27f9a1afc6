#include "engine/execute/probe.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

TEST_CASE("results of probes survive their file") {
  const test::TemporaryFolder folder;
  const ProbeMeasurement measurement{"pack", {{"bytes", 10}, {"pieces", 2}}, {1, 2, 3}};
  std::ofstream(folder.path() / "r.jsonl") << probe_line(measurement) << '\n'
                                           << probe_line(measurement) << '\n';
  const auto results = read_probe_results(folder.path() / "r.jsonl");
  REQUIRE_OK(results);
  CHECK(*results == std::vector<ProbeMeasurement>{measurement, measurement});
}

TEST_CASE("damaged and missing files are errors that name them") {
  const test::TemporaryFolder folder;
  CHECK(read_probe_results(folder.path() / "none").error().kind == ErrorKind::run_failed);
  std::ofstream(folder.path() / "r.jsonl") << R"({"probe": "pack", "shape": {}, "samples": [1]})"
                                           << "\n{\"probe\"\n";
  const auto results = read_probe_results(folder.path() / "r.jsonl");
  REQUIRE_FALSE(results);
  CHECK_THAT(results.error().what, test::contains_text("line 2"));
}

}  // namespace
}  // namespace shardlab

#include "engine/execute/probe.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

TEST_CASE("a list of probes and its results survive their files") {
  const test::TemporaryFolder folder;
  const ProbeList list{
      1234,
      {{"linear.float32", {{"rows", 3}, {"inputs", 4}, {"outputs", 5}}}, {"all_gather", {{"bytes", 4096}}}}};
  REQUIRE_OK(write_probe_list(folder.path() / "list.json", list));
  const auto read = read_probe_list(folder.path() / "list.json");
  REQUIRE_OK(read);
  CHECK(*read == list);
  const ProbeMeasurement measurement{"pack", {{"bytes", 10}, {"pieces", 2}}, {1, 2, 3}};
  std::ofstream(folder.path() / "r.jsonl") << probe_line(measurement) << '\n'
                                           << probe_line(measurement) << '\n';
  const auto results = read_probe_results(folder.path() / "r.jsonl");
  REQUIRE_OK(results);
  CHECK(*results == std::vector<ProbeMeasurement>{measurement, measurement});
}

TEST_CASE("damaged and missing files are errors that name them") {
  const test::TemporaryFolder folder;
  CHECK(read_probe_list(folder.path() / "none").error().kind == ErrorKind::run_failed);
  std::ofstream(folder.path() / "r.jsonl") << R"({"probe": "pack", "shape": {}, "samples": [1]})"
                                           << "\n{\"probe\"\n";
  const auto results = read_probe_results(folder.path() / "r.jsonl");
  REQUIRE_FALSE(results);
  CHECK_THAT(results.error().what, test::contains_text("line 2"));
}

}  // namespace
}  // namespace shardlab

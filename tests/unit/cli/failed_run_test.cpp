// What the doctor makes of a run that failed: by its error, and by its ranks' logs.
#include "engine/cli/doctor/failed_run.h"

#include <fstream>

#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

void write_log(const test::TemporaryFolder& folder, int rank, const std::string& text) {
  std::ofstream(folder.path() / ("rank-" + std::to_string(rank) + ".log")) << text;
}

Error failure(const std::string& what) {
  return {ErrorKind::run_failed, "run", what, {}};
}

constexpr const char* k_lost = "rank 0, step 3, 12 AllGather u0: Connection reset by peer\n";
constexpr const char* k_memory = "rank 1, step 3, 52 Backward s6 mb0: CUDA error: uncorrectable ECC error\n";

TEST_CASE("the log of the rank that has a cause is named, not that of one that lost its peer") {
  const test::TemporaryFolder folder;
  write_log(folder, 0, k_lost);
  write_log(folder, 1, k_memory);
  write_log(folder, 2, "");
  const auto found = diagnose_failed_run(folder.path(), failure("rank 1 failed in step 3"));
  REQUIRE(found);
  CHECK(found->rule == "environment/failing-gpu");
  CHECK(found->file == (folder.path() / "rank-1.log").string());
  CHECK(diagnosis_text(*found) ==
        "doctor: environment/failing-gpu: a GPU is failing; `shardlab doctor " + found->file + "` says more");
}

TEST_CASE("the error's own words count first, with the log that shows them or without one") {
  const test::TemporaryFolder folder;
  write_log(folder, 0, k_lost);
  const Error killed =
      failure("rank 1 ended after 3 steps: killed by signal 9 (Killed); rank 0 waited in step 3");
  const auto by_error = diagnose_failed_run(folder.path(), killed);
  REQUIRE(by_error);
  CHECK(by_error->rule == "memory/host-exhausted");
  CHECK(by_error->file.empty());
  CHECK_THAT(diagnosis_text(*by_error), test::contains_text("--explain memory/host-exhausted"));
  write_log(folder, 1, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes\n");
  CHECK(diagnose_failed_run(folder.path(), killed)->file == (folder.path() / "rank-1.log").string());
}

TEST_CASE("where no rule knows a cause there is nothing to say") {
  const test::TemporaryFolder folder;
  CHECK_FALSE(diagnose_failed_run(folder.path(), failure("rank 0 failed in step 3: it hurts")));
  write_log(folder, 0, k_lost);
  write_log(folder, 1, "step 1 loss 2.1\n");
  CHECK_FALSE(diagnose_failed_run(folder.path(), failure("rank 0 failed in step 3: closed")));
  CHECK_FALSE(diagnose_failed_run(folder.path() / "gone", failure("interrupted")));
}

}  // namespace
}  // namespace shardlab

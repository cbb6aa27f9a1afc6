#include "engine/execute/explain_failure.h"

#include <sys/stat.h>

#include <csignal>
#include <fstream>

#include "engine/execute/spool.h"
#include "tests/catch.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("a rank that was killed without a word: memory is named, and what to do") {
  const TemporaryFolder folder;
  WatchOutcome outcome;
  outcome.ranks = {{0, {.code = 1}, false, 1}, {1, {.signal = SIGKILL}, false, 0}};
  const Error error = explain_failure(outcome, folder.path());
  CHECK(error.kind == ErrorKind::run_failed);
  CHECK_THAT(error.what, contains_text("rank 1 ended after 0 steps: killed by signal 9"));
  CHECK_THAT(error.hint, contains_text("ran out of memory: lower train.micro_batch"));
  CHECK_THAT(error.hint, contains_text(folder.path().string()));
}

TEST_CASE("a rank that we had to stop, or that ended by another signal, says nothing of memory") {
  const TemporaryFolder folder;
  WatchOutcome outcome;
  outcome.ranks = {{0, {.signal = SIGKILL}, true, 0}};
  CHECK(explain_failure(outcome, folder.path()).hint.find("memory") == std::string::npos);
  outcome.ranks = {{0, {.signal = SIGSEGV}, false, 0}};
  CHECK(explain_failure(outcome, folder.path()).hint.find("memory") == std::string::npos);
  outcome.interrupted = true;
  CHECK(explain_failure(outcome, folder.path()).what == "interrupted");
}

TEST_CASE("ranks of probes take no steps, and their failure gives no advice on training") {
  const TemporaryFolder folder;
  WatchOutcome outcome;
  outcome.ranks = {{1, {.signal = SIGKILL}, false, 0}, {0, {.signal = SIGKILL}, true, 1}};
  const Error error = explain_failure(outcome, folder.path(), JobKind::probe);
  CHECK(error.place == Place("probes"));
  CHECK(error.what == "rank 1 ended: killed by signal 9 (Killed); rank 0 did not answer and was stopped");
  CHECK_THAT(error.hint, contains_text("ran out of memory: measure with fewer ranks"));
  CHECK(error.hint.find("train.") == std::string::npos);
}

TEST_CASE("a rank's last words are the last line with anything in it, also of a log of any size") {
  const TemporaryFolder folder;
  WatchOutcome outcome;
  outcome.ranks = {{0, {.code = 1}, false, 0}};
  const std::filesystem::path log = rank_log_path(folder.path(), 0);
  const auto said = [&] { return explain_failure(outcome, folder.path()).what; };
  std::ofstream(log) << "first\nit hurts \r\n\n  \t\n";
  CHECK(said().ends_with(", its last words: it hurts"));
  std::ofstream(log) << std::string(500, 'x');
  CHECK(said().ends_with(": " + std::string(300, 'x')));
  std::ofstream(log) << std::string(1 << 20, 'x') << "\nit hurts";
  CHECK(said().ends_with(", its last words: it hurts"));
  std::ofstream(log, std::ios::trunc).close();
  CHECK_THAT(said(), !contains_text("words"));
  std::filesystem::remove(log);
  REQUIRE(::mkfifo(log.c_str(), 0600) == 0);
  CHECK_THAT(said(), !contains_text("words"));
}

namespace {

void write_error(const std::filesystem::path& folder, int rank, const Error& error) {
  auto writer = SpoolWriter::create(spool_path(folder, rank));
  REQUIRE(writer);
  REQUIRE(writer->write(error));
}

}  // namespace

TEST_CASE("a rank that failed is named once, with who waited for it in a step and who failed elsewhere") {
  const TemporaryFolder folder;
  write_error(folder.path(), 0,
              {ErrorKind::run_failed, on_rank(0, "step 3, 12 AllGather u0"), "it hurts", "rest",
               ErrorCode::failed_in_step});
  write_error(folder.path(), 1,
              {ErrorKind::run_failed, on_rank(1, "step 3, 11 Forward s0 mb0"), "closed", "",
               ErrorCode::failed_in_step});
  write_error(folder.path(), 2, {ErrorKind::run_failed, on_rank(2, "between steps"), "closed", ""});
  write_error(folder.path(), 3,
              {ErrorKind::run_failed, on_rank(3, "step 3, the barrier before it"), "timed out", "",
               ErrorCode::lost_peer});
  WatchOutcome outcome;
  outcome.ranks = {{0, {.code = 4}, false, 0},
                   {1, {.code = 4}, false, 1},
                   {2, {.code = 4}, false, 2},
                   {3, {.code = 4}, false, 3}};
  const Error error = explain_failure(outcome, folder.path());
  CHECK(error.what ==
        "rank 0 failed in step 3, 12 AllGather u0: it hurts; rank 1 waited in step 3, 11 Forward s0 mb0; "
        "rank 2 failed in between steps: closed; rank 3 waited in step 3, the barrier before it");
  CHECK_THAT(error.hint, contains_text("rest; the ranks' records are in"));
}

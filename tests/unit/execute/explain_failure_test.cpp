#include "engine/execute/explain_failure.h"

#include <csignal>

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

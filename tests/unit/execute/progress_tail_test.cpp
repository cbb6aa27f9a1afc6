#include "engine/execute/progress_tail.h"

#include "engine/execute/spool.h"
#include "tests/catch.h"
#include "tests/hand_made_run.h"
#include "tests/paths.h"

using namespace shardlab;
using namespace shardlab::test;

TEST_CASE("a spool is followed while it is written") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "rank-0.spool";
  ProgressTail tail(path);
  CHECK_FALSE(tail.read());  // not there yet
  auto writer = SpoolWriter::create(path);
  REQUIRE_OK(writer);
  SpoolHeader header;
  header.steps = 18;
  REQUIRE_OK(writer->write(header));
  auto progress = tail.read();
  REQUIRE(progress);
  CHECK(progress->steps == 18);
  CHECK(progress->steps_done == 0);

  SpoolStep step;
  step.step = 4;
  step.mean_loss = 2.5;
  step.trace = hand_made_rank();
  step.trace.memory = hand_made_memory();
  REQUIRE_OK(writer->write(step));
  progress = tail.read();
  REQUIRE(progress);
  CHECK(progress->steps_done == 5);
  CHECK(progress->loss == 2.5);
  CHECK(progress->duration == step.trace.duration);
  CHECK(progress->peak == Bytes{200});
  CHECK_FALSE(tail.read());  // nothing new

  step.step = 5;
  step.mean_loss.reset();
  step.trace.memory.clear();
  REQUIRE_OK(writer->write(step));
  progress = tail.read();
  REQUIRE(progress);
  CHECK(progress->steps_done == 6);
  CHECK_FALSE(progress->loss);
  CHECK_FALSE(progress->peak);
}

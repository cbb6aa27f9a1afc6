#include "engine/trace/comparison.h"
#include "tests/catch.h"
#include "tests/word_tables.h"

namespace shardlab {

TEST_CASE("the tables of a trace's words are complete") {
  test::check_tables<RunKind, StepPhase, Verdict>();
}

}  // namespace shardlab

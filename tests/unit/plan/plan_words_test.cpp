#include "engine/plan/pass.h"
#include "engine/plan/step_plan.h"
#include "tests/catch.h"
#include "tests/word_tables.h"

namespace shardlab {

TEST_CASE("the tables of a plan's words are complete") {
  test::check_tables<PlanPhase, PlanPass, GroupDimension>();
  test::check_tables<InstructionKind, ReduceOperation>();
  test::check_tables<BufferClass, MemorySpace, BufferLayout>();
}

TEST_CASE("a buffer's role is the first part of its name") {
  CHECK(role_of_name("found_inf") == BufferRole::found_inf);
  CHECK(role_of_name("exp_avg.u0") == BufferRole::exp_avg);
  CHECK(role_of_name("exp_avg_sq.u0") == BufferRole::exp_avg_sq);
  for (const char* name : {"", "exp_av", "norm", "shard.norms", "?", "other"})
    CHECK(role_of_name(name) == BufferRole::other);
}

}  // namespace shardlab

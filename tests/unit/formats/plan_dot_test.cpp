#include "engine/formats/plan_dot.h"

#include "tests/catch.h"
#include "tests/unit/formats/small_run.h"

namespace shardlab {
namespace {

TEST_CASE("a cluster per stream, an edge per wait and per neighbour on a stream") {
  const std::string dot = plan_dot(test::small_plan());
  CHECK_THAT(dot, test::contains_text("digraph plan"));
  CHECK_THAT(dot, test::contains_text("label=\"all_gather\""));
  CHECK_THAT(dot, test::contains_text("  i0 -> i1;\n"));
  CHECK_THAT(dot, test::contains_text("    i1 -> i2 [color=gray];\n"));
  CHECK_THAT(dot, test::contains_text("0 AllGather root"));
}

}  // namespace
}  // namespace shardlab

#include "engine/report/explain_memory/byte_formula.h"

#include "tests/catch.h"

namespace shardlab {

TEST_CASE("a formula is reckoned as it reads") {
  const ByteProduct shards{{{4, "bytes"}, {1'000, "parameters"}, {3, "layers"}}, {{8, "ranks"}}};
  CHECK(shards.bytes() == Bytes{1'500});
  CHECK(to_text(shards) == "4 bytes x 1,000 parameters x 3 layers / 8 ranks");
  const ByteFormula both = {shards, {{{8, "bytes"}, {1, "numbers"}}}};
  CHECK(bytes_of(both) == Bytes{1'508});
  CHECK(to_text(both) == "4 bytes x 1,000 parameters x 3 layers / 8 ranks + 8 bytes x 1 number");
  CHECK(to_text(ByteProduct{{{2, "bytes"}, {16, ""}}}) == "2 bytes x 16");
  CHECK(bytes_of(ByteFormula{}) == Bytes{});
}

}  // namespace shardlab

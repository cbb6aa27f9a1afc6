#include "engine/model/reshard_after_forward.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

using K = ReshardKind;

TEST_CASE("reshard_after_forward is a word or a number of ranks") {
  const std::vector<std::pair<std::string, ReshardAfterForward>> known{{"true", {K::always}},
                                                                       {"false", {K::never}},
                                                                       {"default", {}},
                                                                       {"2", {K::to_ranks, 2}},
                                                                       {"1048576", {K::to_ranks, 1 << 20}}};
  for (const auto& [text, value] : known) {
    INFO(text);
    CHECK(parse_reshard_after_forward(text) == value);
    CHECK(to_text(value) == text);
  }
  CHECK(parse_reshard_after_forward("True") == ReshardAfterForward{K::always});
  CHECK(parse_reshard_after_forward("FALSE") == ReshardAfterForward{K::never});
  CHECK(parse_reshard_after_forward("1Ki") == ReshardAfterForward{K::to_ranks, 1024});
  for (const char* text : {"", "yes", "Default", "1", "0", "-2", "1048577", "2.5"}) {
    INFO(text);
    CHECK_FALSE(parse_reshard_after_forward(text));
  }
}

TEST_CASE("the root keeps its parameters unless it is told otherwise") {
  CHECK(ReshardAfterForward{}.frees(false));
  CHECK_FALSE(ReshardAfterForward{}.frees(true));
  for (const bool is_root : {false, true}) {
    CHECK(ReshardAfterForward{K::always}.frees(is_root));
    CHECK(ReshardAfterForward{K::to_ranks, 2}.frees(is_root));
    CHECK_FALSE(ReshardAfterForward{K::never}.frees(is_root));
  }
}

}  // namespace
}  // namespace shardlab

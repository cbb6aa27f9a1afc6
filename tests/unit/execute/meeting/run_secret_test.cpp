#include "engine/execute/meeting/run_secret.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("a secret that is made is 128 bits, and never the same") {
  const auto one = RunSecret::make(), other = RunSecret::make();
  REQUIRE_OK(one);
  REQUIRE_OK(other);
  CHECK(one->reveal().size() == 32);
  CHECK(one->reveal() != other->reveal());
  CHECK(one->is(one->reveal()));
  CHECK_FALSE(one->is(other->reveal()));
  CHECK_FALSE(one->is(one->reveal().substr(1)));
  CHECK_FALSE(one->is(""));
}

TEST_CASE("a user's secret is refused by its variable's name, and never shown") {
  CHECK_FALSE(*secret_of_user({}));
  CHECK_FALSE(*secret_of_user({{"SHARDLAB_RUN_SECRET", ""}}));
  const auto good = secret_of_user({{"SHARDLAB_RUN_SECRET", "0123456789abcdef"}});
  REQUIRE_OK(good);
  REQUIRE(*good);
  CHECK((*good)->is("0123456789abcdef"));
  for (const std::string& wrong :
       {std::string("tooshort"), std::string("with spaces in the midst"), std::string(256, 'x'),
        std::string("\xc3\xbc and other letters"), std::string("0123456789abcdef\n")}) {
    const auto refused = secret_of_user({{"SHARDLAB_RUN_SECRET", wrong}});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::bad_input);
    CHECK(refused.error().place.name == "SHARDLAB_RUN_SECRET");
    CHECK(to_string(refused.error()).find(wrong) == std::string::npos);
  }
}

}  // namespace
}  // namespace shardlab

#include "engine/base/nearest.h"

#include <chrono>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace shardlab {
namespace {

const std::vector<std::string> k_known = {"micro_batch", "learning_rate", "steps"};

TEST_CASE("a name that differs in a third of its characters is near, in more is not") {
  CHECK(nearest_name("micro_bach", k_known) == "micro_batch");
  CHECK(nearest_name("stepss", k_known) == "steps");
  CHECK(nearest_name("stepsss", k_known) == "steps");
  CHECK_FALSE(nearest_name("stepssss", k_known));
  CHECK_FALSE(nearest_name("learning_rate_of_all_layers", k_known));
  CHECK_FALSE(nearest_name("x", {}));
  const std::vector<std::string> strategies = {"none", "ddp", "zero3"};
  CHECK_FALSE(nearest_name("tp", strategies));  // of which two edits leave nothing
  CHECK(nearest_name("dp", strategies) == "ddp");
}

TEST_CASE("a file that was taken for a name is compared with none") {
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(nearest_name(std::string(50'000'000, 's'), k_known));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
}

}  // namespace
}  // namespace shardlab

#include "engine/execute/processor_use.h"

#include <array>

#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_stat =
    "cpu  330 44 66 1000 50 6 8 24 0 0\n"
    "cpu0 100 20 30 400 10 1 2 7 0 0\n"
    "cpu1 200 20 30 400 40 5 6 7 0 0\n"
    "cpu10 30 4 6 200 0 0 0 10 0 0\n"
    "intr 24658784 0 0\n";

TEST_CASE("busy time is all but idle and waiting, of the processors that are asked for") {
  CHECK(busy_time(k_stat, std::array{0}, 100) == milliseconds(1600));
  CHECK(busy_time(k_stat, std::array{0, 10}, 100) == milliseconds(1600 + 500));
  CHECK(busy_time(k_stat, std::array{1}, 1000) == milliseconds(268));
}

TEST_CASE("a machine that does not show its processors is unknown, not idle") {
  CHECK_FALSE(busy_time(k_stat, std::array{0, 2}, 100));
  CHECK_FALSE(busy_time("", std::array{0}, 100));
  CHECK_FALSE(busy_time("cpu0 0 0 0 0 0 0 0 0 0 0\n", std::array{0}, 100));
  CHECK_FALSE(busy_time("cpu0 1 2 3\n", std::array{0}, 100));
}

TEST_CASE("what others took is what was busy without this process and its children") {
  const ProcessorTimes before{4, milliseconds(1000), milliseconds(200), milliseconds(50)};
  const ProcessorTimes after{4, milliseconds(8000), milliseconds(4200), milliseconds(2050)};
  const auto use = use_between(before, after);
  REQUIRE(use);
  CHECK(use->own == Approx(2.0));
  CHECK(use->others == Approx(1.5));
  CHECK(use->share_of_others() == Approx(0.375));
  CHECK_FALSE(use_between(before, before));
  // Clocks of different grain may show slightly more own time than busy time.
  const auto quiet = use_between(before, {4, milliseconds(2990), milliseconds(2200), milliseconds(1050)});
  REQUIRE(quiet);
  CHECK(quiet->others == 0);
}

}  // namespace
}  // namespace shardlab

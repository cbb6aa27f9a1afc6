#include "engine/execute/watch/failure_watch.h"

#include <atomic>
#include <chrono>

#include "engine/execute/streams/device_failure.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;

template <typename Condition>
bool comes(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(2ms);
  return condition();
}

std::optional<std::string> nothing() {
  return std::nullopt;
}

}  // namespace

TEST_CASE(
    "the watch aborts what was given to it on the first failure, with its reason, and says so from then on") {
  FailureWatch watch;
  std::atomic<bool> broken{false};
  std::atomic<int> aborted{0};
  std::string reason;
  watch.add({[&]() -> std::optional<std::string> {
               return broken ? std::optional<std::string>("rank 3 is lost") : std::nullopt;
             },
             [&](const std::string& why) {
               reason = why;
               ++aborted;
             }});
  std::this_thread::sleep_for(150ms);
  CHECK_NOTHROW(watch.check());
  CHECK(watch.failure() == std::nullopt);
  broken = true;
  REQUIRE(comes([&] { return aborted == 1; }));
  CHECK(reason == "rank 3 is lost");
  CHECK_THROWS_AS(watch.check(), DeviceFailure);
  CHECK_THROWS_WITH(watch.check(), test::contains_text("rank 3 is lost"));
  watch.fail("something else");
  CHECK(watch.failure() == "rank 3 is lost");
}

TEST_CASE("who says that it has waited too long is not held up by what is aborted then") {
  FailureWatch watch;
  std::atomic<bool> inside{false}, leave{false};
  watch.add({nothing, [&](const std::string&) {
               inside = true;
               while (!leave) std::this_thread::sleep_for(1ms);
             }});
  watch.fail("the device did not get on within 60 s");
  CHECK_THROWS_WITH(watch.check(), test::contains_text("did not get on"));
  CHECK(comes([&] { return inside.load(); }));
  leave = true;
}

TEST_CASE("what is given to the watch after a failure is aborted too") {
  FailureWatch watch;
  watch.fail("rank 1 is lost");
  std::atomic<int> aborted{0};
  watch.add({nothing, [&](const std::string&) { ++aborted; }});
  CHECK(comes([&] { return aborted == 1; }));
}

TEST_CASE("a watch that has stopped asks nobody") {
  FailureWatch watch;
  std::atomic<int> asked{0};
  watch.add({[&] {
               ++asked;
               return nothing();
             },
             [](const std::string&) {}});
  REQUIRE(comes([&] { return asked > 0; }));
  watch.stop();
  const int before = asked;
  std::this_thread::sleep_for(250ms);
  CHECK(asked == before);
  watch.stop();
}

}  // namespace shardlab

#include "engine/execute/watch/peer_listener.h"

#include <thread>

#include "tests/catch.h"
#include "tests/unit/execute/watch/values_in_memory.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr PeerWatchOptions k_hasty{2ms, 300ms, 200ms};

std::optional<std::string> failure_of(const PeerListener& listener, std::chrono::milliseconds within) {
  const auto end = Clock::now() + within;
  while (Clock::now() < end) {
    if (auto wrong = listener.failure()) return wrong;
    std::this_thread::sleep_for(2ms);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("listeners hear each other, and what one reports before it ends") {
  const auto values = std::make_shared<test::ValuesInMemory>();
  PeerListener first(values, 0, 2, k_hasty), second(values, 1, 2, k_hasty);
  CHECK_FALSE(failure_of(first, 100ms));
  second.report("rank 1, GPU 1: out of memory");
  const auto told = failure_of(first, 10s);
  REQUIRE(told);
  CHECK(*told == "rank 1, GPU 1: out of memory");
}

TEST_CASE("a rank that ends well is not missed, one that just ends is") {
  const auto values = std::make_shared<test::ValuesInMemory>();
  PeerListener first(values, 0, 2, k_hasty);
  {
    PeerListener second(values, 1, 2, k_hasty);
    CHECK_FALSE(failure_of(first, 50ms));
    second.finish();
  }
  CHECK_FALSE(failure_of(first, 600ms));
  const auto others = std::make_shared<test::ValuesInMemory>();
  PeerListener alone(others, 0, 2, k_hasty);
  { const PeerListener second(others, 1, 2, k_hasty); }
  const auto missed = failure_of(alone, 10s);
  REQUIRE(missed);
  CHECK_THAT(*missed, test::contains_text("rank 1 has not been heard of"));
}

TEST_CASE("a store that answers no more is a lost peer, and holds nobody up") {
  const auto values = std::make_shared<test::ValuesInMemory>();
  PeerListener listener(values, 1, 2, k_hasty);
  PeerListener other(values, 0, 2, k_hasty);
  CHECK_FALSE(failure_of(listener, 50ms));
  values->hang(true);
  const auto lost = failure_of(listener, 10s);
  REQUIRE(lost);
  CHECK_THAT(*lost, test::contains_text("which rank 0 keeps, has not answered for"));
  const auto began = Clock::now();
  listener.report("rank 1 gives up");
  CHECK(Clock::now() - began < 5s);
  CHECK(listener.failure() == lost);
  values->hang(false);  // the threads that were left behind may end
}

TEST_CASE("who waits for a value hears that the run has failed") {
  test::ValuesInMemory values;
  const auto none = [] { return std::optional<std::string>(); };
  CHECK(values.set("a", "1"));
  const auto there = wait_unless_failed(values, "a", 1s, none);
  REQUIRE_OK(there);
  CHECK(*there == "1");
  const auto late = wait_unless_failed(values, "b", 60ms, none);
  REQUIRE_FALSE(late);
  CHECK(late.error().what == "nobody set b within 0.06 s");
  const auto failed =
      wait_unless_failed(values, "b", 60s, [] { return std::optional<std::string>("rank 2: no NCCL"); });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().what == "rank 2: no NCCL");
}

}  // namespace shardlab

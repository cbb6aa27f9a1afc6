// Every element is worked on once, and what is thrown arrives.
#include "engine/base/in_parallel.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace shardlab {
namespace {

TEST_CASE("in parallel: each element once, with any number of threads") {
  for (const int threads : {-1, 0, 1, 3, 50}) {
    std::vector<std::atomic<int>> seen(20);
    in_parallel(seen.size(), threads, [&](std::size_t i) { ++seen[i]; });
    for (const auto& each : seen) CHECK(each == 1);
  }
  in_parallel(0, 4, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("in parallel: what a thread throws ends the others and arrives here") {
  // The others take their time: on a busy machine the thread that throws may wait for its turn meanwhile.
  const auto others = std::chrono::milliseconds(1);
  constexpr int kElements = 20000;
  for (const int threads : {1, 4}) {
    std::atomic<int> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == 3) throw std::runtime_error("the fourth");
      std::this_thread::sleep_for(others);
      ++done;
    };
    CHECK_THROWS_WITH(in_parallel(kElements, threads, work), "the fourth");
    CHECK(done < kElements - 1);
  }
}

}  // namespace
}  // namespace shardlab

// Every element is worked on once, and what is thrown arrives.
#include "engine/base/in_parallel.h"

#include <atomic>
#include <numeric>
#include <stdexcept>
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
  for (const int threads : {1, 4}) {
    std::atomic<int> done = 0;
    const auto work = [&](std::size_t i) {
      if (i == 3) throw std::runtime_error("the fourth");
      ++done;
    };
    CHECK_THROWS_WITH(in_parallel(100000, threads, work), "the fourth");
    CHECK(done < 99999);
  }
}

}  // namespace
}  // namespace shardlab

#include "gui/view_model/latest.h"

#include <future>
#include <stdexcept>
#include <thread>

#include "tests/catch.h"

using namespace shardlab::view;

namespace {

template <typename T>
void wait_for(Latest<T>& latest) {
  while (latest.busy()) {
    latest.poll();
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("the value before stays until the new one is there; of many wishes the last one counts") {
  Latest<int> latest;
  CHECK_FALSE(latest.poll());
  CHECK_FALSE(latest.value());
  latest.want([] { return 1; });
  wait_for(latest);
  REQUIRE(latest.value());
  CHECK(*latest.value() == 1);
  std::promise<void> go;
  latest.want([held = go.get_future().share()] {
    held.wait();
    return 2;
  });
  for (int wish = 3; wish < 10; ++wish) latest.want([wish] { return wish; });
  CHECK_FALSE(latest.poll());
  CHECK(latest.busy());
  CHECK(*latest.value() == 1);
  go.set_value();
  wait_for(latest);
  CHECK(*latest.value() == 9);
}

TEST_CASE("a value that cannot be made is told, the one before stays, and the next one may be made") {
  Latest<int> latest;
  latest.want([] { return 1; });
  wait_for(latest);
  latest.want([]() -> int { throw std::runtime_error("no memory for it"); });
  wait_for(latest);
  CHECK(latest.failure() == "no memory for it");
  REQUIRE(latest.value());
  CHECK(*latest.value() == 1);
  latest.want([] { return 2; });
  wait_for(latest);
  CHECK_FALSE(latest.failure());
  CHECK(*latest.value() == 2);
}

#include "engine/execute/torch/operator_clock.h"

#include <thread>

#include "engine/execute/streams/host_queues.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

constexpr std::chrono::milliseconds k_work{2};

void call(OperatorClock& clock, std::string_view operation, bool backward) {
  clock.begin();
  std::this_thread::sleep_for(k_work);
  clock.end(operation, backward);
}

}  // namespace

TEST_CASE("operators are timed by kind and direction, per step that counts") {
  HostQueues queues;
  OperatorClock clock(queues);
  CHECK(clock.mean().empty());
  call(clock, "linear", false);
  clock.finish_step(false);  // warm-up
  for (int step = 0; step < 2; ++step) {
    call(clock, "linear", true);
    call(clock, "linear", false);
    call(clock, "linear", false);
    call(clock, "attention", false);
    clock.finish_step(true);
  }
  const std::vector<OperatorTime> times = clock.mean();
  REQUIRE(times.size() == 3);
  CHECK(times[0].operation == "attention");
  CHECK((times[1].operation == "linear" && !times[1].backward && times[1].calls == 2));
  CHECK((times[2].operation == "linear" && times[2].backward && times[2].calls == 1));
  CHECK(times[1].time >= Nanoseconds{2 * 2'000'000});
  CHECK(times[2].time >= Nanoseconds{2'000'000});
}

}  // namespace shardlab::test

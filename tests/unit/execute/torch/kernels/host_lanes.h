// Threads as the lanes of a row: what a block of a device does, on the host.
#pragma once

#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

namespace shardlab::test {

class HostLanes {
 public:
  struct Shared {
    explicit Shared(std::int64_t count)
        : values(static_cast<std::size_t>(count)), barrier(static_cast<std::ptrdiff_t>(count)) {}
    std::vector<float> values;
    std::barrier<> barrier;
  };

  HostLanes(Shared& shared, std::int64_t lane) : shared_(shared), lane_(lane) {}
  std::int64_t lane() const { return lane_; }
  std::int64_t count() const { return static_cast<std::int64_t>(shared_.values.size()); }
  float sum(float value) {
    return reduce(value, [](float a, float b) { return a + b; });
  }
  float max(float value) {
    return reduce(value, [](float a, float b) { return a > b ? a : b; });
  }

 private:
  template <typename Combine>
  float reduce(float value, Combine combine) {
    shared_.values[static_cast<std::size_t>(lane_)] = value;
    shared_.barrier.arrive_and_wait();
    float result = shared_.values[0];
    for (std::size_t i = 1; i < shared_.values.size(); ++i) result = combine(result, shared_.values[i]);
    shared_.barrier.arrive_and_wait();
    return result;
  }

  Shared& shared_;
  std::int64_t lane_;
};

// Runs `row(lanes)` on as many threads as there are lanes.
template <typename Row>
void with_lanes(std::int64_t count, Row row) {
  HostLanes::Shared shared(count);
  std::vector<std::thread> threads;
  for (std::int64_t lane = 0; lane < count; ++lane) {
    threads.emplace_back([&, lane] {
      HostLanes lanes(shared, lane);
      row(lanes);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace shardlab::test

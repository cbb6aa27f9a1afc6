#include "simulator/search/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace shardlab {

void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto worker = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  const auto wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
  for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(worker);
  worker();
}

}  // namespace shardlab

// How many calls a second the model of torch's caching allocator answers, on one core.
#include <cstdint>
#include <ctime>
#include <iostream>
#include <random>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "simulator/memory/caching_allocator/caching_allocator.h"

namespace shardlab {
namespace {

// Allocations of a few hundred sizes on two streams, some 500 alive, every tenth used by the other stream.
double calls_a_second(std::string_view options) {
  CachingAllocator allocator(*parse_allocator_options(options), {gibibytes(80), gibibytes(78)});
  std::mt19937_64 dice(1);
  std::vector<Bytes> sizes;
  for (int i = 0; i < 300; ++i)
    sizes.push_back({static_cast<std::int64_t>(1 + dice() % (1U << (8 + dice() % 19)))});
  std::vector<AllocationId> live;
  constexpr int k_calls = 3'000'000;
  const std::clock_t start = std::clock();  // of this process: others may use the core meanwhile
  for (int i = 0; i < k_calls; ++i) {
    const std::uint64_t roll = dice();
    const AllocatorStream stream{static_cast<std::int64_t>(roll % 8 == 0)};
    if (live.size() < 500 && (live.empty() || roll % 2 == 0)) {
      if (const auto block = allocator.malloc(sizes[roll / 16 % sizes.size()], stream))
        live.push_back(*block);
      continue;
    }
    AllocationId& one = live[roll / 16 % live.size()];
    if (roll % 10 == 1) (void)allocator.record_stream(one, {1});
    (void)allocator.free(one);
    one = live.back();
    live.pop_back();
    allocator.complete_events({1}, allocator.events_recorded({1}) - 3);
  }
  return k_calls / (static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace shardlab

int main() {
  for (const char* options :
       {"", "max_split_size_mb:64", "roundup_power2_divisions:8", "expandable_segments:True"})
    std::cout << fmt::format("{:>6.2f} million calls a second  {}\n", shardlab::calls_a_second(options) / 1e6,
                             *options == '\0' ? "(torch's defaults)" : options);
}

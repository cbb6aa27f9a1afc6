#include "engine/execute/torch/memory/block_cache.h"

#include <c10/core/CPUAllocator.h>

#include <set>

#include "tests/catch.h"

namespace shardlab {
namespace {

// The CPU allocator, watched; refuses when more than `limit` bytes are out.
class WatchedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    TORCH_CHECK(bytes <= limit - out, "no memory left");
    void* block = inner_->raw_allocate(bytes);
    sizes_[block] = bytes;
    out += bytes;
    ++calls;
    current() = this;
    return {block, block, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void*, const void*, std::size_t) const override {}

  std::size_t out = 0, limit = std::size_t{1} << 30;
  int calls = 0;

 private:
  static WatchedAllocator*& current() {
    static WatchedAllocator* allocator = nullptr;
    return allocator;
  }
  static void release(void* block) {
    WatchedAllocator& self = *current();
    self.out -= self.sizes_.at(block);
    self.sizes_.erase(block);
    self.inner_->raw_deallocate(block);
  }
  c10::Allocator* inner_ = c10::GetDefaultCPUAllocator();
  std::map<void*, std::size_t> sizes_;
};

constexpr std::size_t k_mib = std::size_t{1} << 20;

}  // namespace

TEST_CASE("a block given back serves the next request of its size") {
  WatchedAllocator source;
  BlockCache cache(source);
  void* first = cache.take(k_mib);
  cache.give_back(first, k_mib);
  CHECK(cache.take(k_mib) == first);
  void* second = cache.take(k_mib);
  cache.give_back(first, k_mib);
  cache.give_back(second, k_mib);
  CHECK(cache.take(k_mib) == second);
  CHECK(source.calls == 2);
  // Another size takes no block that is kept; this one breaks the bound of 2 MiB, so the one kept is
  // released.
  void* other = cache.take(k_mib / 2);
  CHECK(source.calls == 3);
  CHECK(cache.kept_bytes() == 0);
  cache.give_back(second, k_mib);
  cache.give_back(other, k_mib / 2);
}

TEST_CASE("small blocks are not kept") {
  WatchedAllocator source;
  BlockCache cache(source);
  cache.give_back(cache.take(4096), 4096);
  CHECK(cache.kept_bytes() == 0);
  CHECK(source.out == 0);
}

TEST_CASE("with what it keeps, a process is never larger than at its own peak") {
  WatchedAllocator source;
  BlockCache cache(source);
  std::multiset<std::pair<void*, std::size_t>> held;
  std::size_t in_use = 0, peak = 0;
  for (std::size_t step = 0; step < 3000; ++step) {
    const std::size_t bytes = (step * 7919 % 13 + 1) * k_mib / 8;
    if (held.size() < 12 && step % 5 < 3) {
      held.emplace(cache.take(bytes), bytes);
      in_use += bytes;
    } else if (!held.empty()) {
      const auto [block, size] = *held.begin();
      held.erase(held.begin());
      cache.give_back(block, size);
      in_use -= size;
    }
    peak = std::max(peak, in_use);
    REQUIRE(source.out == in_use + cache.kept_bytes());
    REQUIRE(source.out <= peak);
  }
  CHECK(source.calls < 1700);
  for (const auto& [block, size] : held) cache.give_back(block, size);
}

TEST_CASE("out of memory releases what is kept before it gives up") {
  WatchedAllocator source;
  source.limit = 8 * k_mib;
  BlockCache cache(source);
  void* large = cache.take(6 * k_mib);
  cache.give_back(large, 6 * k_mib);
  source.limit = 5 * k_mib;  // less than the peak: the bound alone would keep all of it
  void* other = cache.take(3 * k_mib);
  CHECK(cache.kept_bytes() == 0);
  CHECK_THROWS_WITH(cache.take(3 * k_mib), test::contains_text("no memory left"));
  cache.give_back(other, 3 * k_mib);
}

}  // namespace shardlab

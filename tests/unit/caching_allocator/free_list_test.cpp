#include "simulator/memory/caching_allocator/free_list.h"

#include <iterator>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.h"

namespace shardlab {
namespace {

std::vector<BlockIndex> blocks_of(const FreeList& list) {
  std::vector<BlockIndex> blocks;
  for (const FreeKey& key : list) blocks.push_back(key.block);
  return blocks;
}

std::vector<BlockIndex> blocks_of(const std::set<FreeKey>& keys) {
  std::vector<BlockIndex> blocks;
  for (const FreeKey& key : keys) blocks.push_back(key.block);
  return blocks;
}

// Few sizes, so that addresses decide often.
FreeKey drawn_key(std::mt19937_64& dice, BlockIndex block) {
  return {{static_cast<std::int64_t>(512 * (1 + dice() % 40))}, {dice() % 100'000}, block};
}

}  // namespace

TEST_CASE("a list of free blocks has the order of a set, also in many chunks") {
  std::mt19937_64 dice(3);
  FreeList list;
  std::set<FreeKey> expected;
  for (BlockIndex i = 0; i < 20'000; ++i) {
    const bool grows = i < 12'000;  // to thousands of keys, and back to none
    const FreeKey key = drawn_key(dice, i);
    if (dice() % 4 < (grows ? 3U : 1U)) {
      if (expected.insert(key).second) list.insert(key);
    } else if (const auto found = expected.lower_bound(key); found != expected.end()) {
      const auto same = list.lower_bound(key);
      REQUIRE(same != list.end());
      CHECK(same->block == found->block);
      list.erase({found->size, found->address});
      expected.erase(found);
    } else {
      CHECK(list.lower_bound(key) == list.end());
    }
    if (i % 500 == 0) CHECK(blocks_of(list) == blocks_of(expected));
    if (!expected.empty()) CHECK(list.largest().block == expected.rbegin()->block);
  }
  while (!expected.empty()) {
    list.erase(*expected.begin());
    expected.erase(expected.begin());
  }
  CHECK(list.empty());
  CHECK(list.begin() == list.end());
}

}  // namespace shardlab

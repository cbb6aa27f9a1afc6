#include "engine/execute/torch/memory/block_cache.h"

#include <sys/mman.h>

#include <algorithm>

namespace shardlab {
namespace {

// The heap serves smaller blocks without system calls.
constexpr std::size_t k_smallest_kept = std::size_t{64} << 10;
constexpr std::size_t k_huge_page = std::size_t{2} << 20;

void offer_huge_pages(void* block, std::size_t bytes) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(block) + k_huge_page - 1) / k_huge_page * k_huge_page;
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / k_huge_page * k_huge_page;
  // Advice only: a kernel without huge pages refuses it and nothing is lost.
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void* BlockCache::take(std::size_t bytes) {
  if (bytes < k_smallest_kept) return source_.raw_allocate(bytes);
  const std::lock_guard lock(mutex_);
  if (void* block = find(bytes)) {
    in_use_ += bytes;
    return block;
  }
  most_in_use_ = std::max(most_in_use_, in_use_ + bytes);
  while (kept_bytes_ > 0 && in_use_ + bytes + kept_bytes_ > most_in_use_) release_oldest();
  void* block = allocate(bytes);
  in_use_ += bytes;
  if (bytes >= 2 * k_huge_page) offer_huge_pages(block, bytes);
  return block;
}

void BlockCache::give_back(void* block, std::size_t bytes) {
  if (bytes < k_smallest_kept) return source_.raw_deallocate(block);
  const std::lock_guard lock(mutex_);
  in_use_ -= bytes;
  kept_bytes_ += bytes;
  kept_.emplace(bytes, Kept{block, clock_++});
}

std::size_t BlockCache::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

// The one kept last: its contents may still be in a cache of the processor.
void* BlockCache::find(std::size_t bytes) {
  auto place = kept_.upper_bound(bytes);
  if (place == kept_.begin() || (--place)->first != bytes) return nullptr;
  void* block = place->second.block;
  kept_bytes_ -= bytes;
  kept_.erase(place);
  return block;
}

void BlockCache::release_oldest() {
  const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
    return a.second.since < b.second.since;
  });
  kept_bytes_ -= oldest->first;
  source_.raw_deallocate(oldest->second.block);
  kept_.erase(oldest);
}

void* BlockCache::allocate(std::size_t bytes) {
  try {
    return source_.raw_allocate(bytes);
  } catch (const c10::Error&) {
    if (kept_bytes_ == 0) throw;
    while (kept_bytes_ > 0) release_oldest();
    return source_.raw_allocate(bytes);
  }
}

}  // namespace shardlab

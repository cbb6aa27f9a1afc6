#include "simulator/memory/caching_allocator/free_list.h"

#include <algorithm>
#include <cassert>

namespace shardlab {
namespace {

constexpr std::size_t k_longest_chunk = 64;

// The first chunk whose last key is not less than the key.
template <typename Chunks>
auto first_reaching(Chunks& chunks, const FreeKey& key) {
  return std::lower_bound(
      chunks.begin(), chunks.end(), key,
      [](const std::vector<FreeKey>& chunk, const FreeKey& wanted) { return chunk.back() < wanted; });
}

}  // namespace

FreeList::Iterator& FreeList::Iterator::operator++() {
  if (++place_ == chunk_->size()) {
    ++chunk_;
    place_ = 0;
  }
  return *this;
}

FreeList::Iterator FreeList::lower_bound(const FreeKey& key) const {
  const auto chunk = first_reaching(chunks_, key);
  if (chunk == chunks_.end()) return end();
  const auto found = std::lower_bound(chunk->begin(), chunk->end(), key);
  return {chunk, static_cast<std::size_t>(found - chunk->begin())};
}

std::vector<FreeList::Chunk>::iterator FreeList::chunk_of(const FreeKey& key) {
  const auto chunk = first_reaching(chunks_, key);
  return chunk == chunks_.end() ? chunk - 1 : chunk;
}

void FreeList::insert(const FreeKey& key) {
  if (chunks_.empty()) {
    chunks_.push_back({key});
    return;
  }
  const auto chunk = chunk_of(key);
  chunk->insert(std::lower_bound(chunk->begin(), chunk->end(), key), key);
  if (chunk->size() <= k_longest_chunk) return;
  const auto middle = chunk->begin() + k_longest_chunk / 2;
  Chunk upper(middle, chunk->end());
  chunk->erase(middle, chunk->end());
  chunks_.insert(chunk + 1, std::move(upper));
}

void FreeList::erase(const FreeKey& key) {
  assert(!chunks_.empty());
  const auto chunk = chunk_of(key);
  const auto found = std::lower_bound(chunk->begin(), chunk->end(), key);
  assert(found != chunk->end() && found->size == key.size && found->address == key.address);
  erase(chunk, static_cast<std::size_t>(found - chunk->begin()));
}

void FreeList::erase(Iterator at) {
  erase(chunks_.begin() + (at.chunk_ - chunks_.cbegin()), at.place_);
}

void FreeList::erase(std::vector<Chunk>::iterator chunk, std::size_t place) {
  chunk->erase(chunk->begin() + static_cast<std::ptrdiff_t>(place));
  if (chunk->empty()) chunks_.erase(chunk);
}

}  // namespace shardlab

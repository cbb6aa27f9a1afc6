// Keeps freed blocks of a CPU allocator for the next allocation of the same size.
//
// A training step asks for the same sizes again and again. Given back to the system, large blocks come back
// as pages that must be mapped and cleared anew: on a virtual machine that costs more than a norm or a sum
// over them. The cache keeps them, within one bound: blocks in use and blocks kept are together never more
// than the most that was ever in use at once. So a process is never larger for it than at its own peak. Where
// a new block breaks the bound, the blocks kept longest are released.
//
// Blocks of 4 MiB and more are offered to the kernel as huge pages, which makes products of large matrices a
// few percent faster.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace shardlab {

// Thread-safe. `source` must outlive it.
class BlockCache {
 public:
  explicit BlockCache(c10::Allocator& source) : source_(source) {}

  // As the source's raw_allocate, whose exceptions pass (after everything kept was released and it still had
  // no memory).
  void* take(std::size_t bytes);
  // `bytes` as in take.
  void give_back(void* block, std::size_t bytes);

  std::size_t kept_bytes() const;

 private:
  struct Kept {
    void* block;
    std::uint64_t since;
  };
  void* find(std::size_t bytes);
  void release_oldest();
  void* allocate(std::size_t bytes);

  c10::Allocator& source_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, Kept> kept_;
  std::size_t in_use_ = 0, most_in_use_ = 0, kept_bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace shardlab

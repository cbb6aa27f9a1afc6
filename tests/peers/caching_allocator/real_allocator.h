// Torch's own caching allocator, run over the stand-in, in the words of our model of it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/memory/caching_allocator/caching_allocator.h"

namespace shardlab {

// The allocator of one device. Devices are used once: torch cannot make a second allocator for one. Options
// come from the environment (PYTORCH_ALLOC_CONF), once a process.
class RealAllocator {
 public:
  RealAllocator(int device, Bytes total, Bytes available);

  // Streams that torch gives out itself, by its numbers: the default one first. Others are not to be used.
  std::vector<AllocatorStream> streams(int count);

  // Absent: out of memory.
  std::optional<std::uint64_t> malloc(Bytes size, AllocatorStream stream);
  void free(std::uint64_t address);
  void record_stream(std::uint64_t address, AllocatorStream stream);
  void complete_events(AllocatorStream stream, std::int64_t count);
  void empty_cache();

  AllocatorStatistics statistics() const;
  std::vector<SegmentSnapshot> snapshot() const;

 private:
  int device_;
  std::vector<std::pair<void*, AllocatorStream>> known_;  // the driver's name of each stream
};

// Whether torch takes the text as options; else what it says. Changes the options of this process.
std::optional<std::string> torch_refuses(const std::string& options);

}  // namespace shardlab

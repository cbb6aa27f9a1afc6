#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include "tests/peers/caching_allocator/real_allocator.h"
#include "tests/peers/caching_allocator/stand_in.h"

namespace c10::cuda::_internal {
void setHasPrimaryContext(bool (*)(DeviceIndex));  // exported by libc10_cuda, in no header
}

namespace shardlab {
namespace {

namespace torch_allocator = c10::cuda::CUDACachingAllocator;

void start_torch() {
  static const bool started = [] {
    c10::cuda::_internal::setHasPrimaryContext([](c10::DeviceIndex) { return true; });
    return true;
  }();
  (void)started;
}

c10::DeviceIndex index_of(int device) {
  return static_cast<c10::DeviceIndex>(device);
}

c10::cuda::CUDAStream stream_of(AllocatorStream stream, int device) {
  return c10::cuda::CUDAStream(
      c10::Stream(c10::Stream::UNSAFE, {c10::kCUDA, index_of(device)}, stream.value));
}

AllocatorStat stat(const c10::CachingAllocator::Stat& s) {
  return {s.current, s.peak, s.allocated, s.freed};
}
PoolStats stats(const c10::CachingAllocator::StatArray& s) {
  return {stat(s[0]), stat(s[1]), stat(s[2])};
}

}  // namespace

RealAllocator::RealAllocator(int device, Bytes total, Bytes available) : device_(device) {
  start_torch();
  stand_in_device(device, total.value, available.value);
  cudaSetDevice(device);
  torch_allocator::init(device + 1);  // makes the allocators of this device and of those before it
}

std::vector<AllocatorStream> RealAllocator::streams(int count) {
  std::vector<AllocatorStream> result = {{0}};
  while (static_cast<int>(result.size()) < count) {
    const bool high_priority = result.size() % 3 == 0;
    result.push_back({c10::cuda::getStreamFromPool(high_priority, index_of(device_)).id()});
  }
  for (const AllocatorStream stream : result)
    known_.emplace_back(stream_of(stream, device_).stream(), stream);
  return result;
}

std::optional<std::uint64_t> RealAllocator::malloc(Bytes size, AllocatorStream stream) {
  try {
    void* address = torch_allocator::raw_alloc_with_stream(static_cast<std::size_t>(size.value),
                                                           stream_of(stream, device_));
    return reinterpret_cast<std::uint64_t>(address);
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  }
}

void RealAllocator::free(std::uint64_t address) {
  torch_allocator::raw_delete(reinterpret_cast<void*>(address));
}

void RealAllocator::record_stream(std::uint64_t address, AllocatorStream stream) {
  void* const p = reinterpret_cast<void*>(address);
  c10::DataPtr data(p, p, torch_allocator::get()->raw_deleter(), {c10::kCUDA, index_of(device_)});
  torch_allocator::recordStream(data, stream_of(stream, device_));
  (void)data.release_context();
}

void RealAllocator::complete_events(AllocatorStream stream, std::int64_t count) {
  stand_in_complete(stream_of(stream, device_).stream(), count);
}

void RealAllocator::empty_cache() {
  torch_allocator::emptyCache();
}

AllocatorStatistics RealAllocator::statistics() const {
  const c10::CachingDeviceAllocator::DeviceStats s = torch_allocator::getDeviceStats(index_of(device_));
  return {.allocation = stats(s.allocation),
          .segment = stats(s.segment),
          .active = stats(s.active),
          .inactive_split = stats(s.inactive_split),
          .allocated_bytes = stats(s.allocated_bytes),
          .reserved_bytes = stats(s.reserved_bytes),
          .active_bytes = stats(s.active_bytes),
          .inactive_split_bytes = stats(s.inactive_split_bytes),
          .requested_bytes = stats(s.requested_bytes),
          .oversize_allocations = stat(s.oversize_allocations),
          .oversize_segments = stat(s.oversize_segments),
          .num_alloc_retries = s.num_alloc_retries,
          .num_ooms = s.num_ooms,
          .num_sync_all_streams = s.num_sync_all_streams,
          .num_device_alloc = s.num_device_alloc,
          .num_device_free = s.num_device_free,
          .max_split_size = s.max_split_size};
}

std::vector<SegmentSnapshot> RealAllocator::snapshot() const {
  std::vector<SegmentSnapshot> result;
  for (const auto& from : torch_allocator::snapshot({0, 0}, /*include_traces=*/false).segments) {
    if (from.device != device_) continue;
    SegmentSnapshot segment;
    segment.address = {from.address};
    for (const auto& [pointer, stream] : known_)
      if (pointer == from.stream) segment.stream = stream;
    segment.small = !from.is_large;
    segment.expandable = from.is_expandable;
    for (const auto& block : from.blocks) {
      const BlockState state = block.allocated ? BlockState::allocated
                               : block.active  ? BlockState::pending
                                               : BlockState::free;
      const auto bytes = [](std::size_t n) { return Bytes{static_cast<std::int64_t>(n)}; };
      segment.blocks.push_back({segment.size, bytes(block.size), bytes(block.requested_size), state});
      segment.size += bytes(block.size);
    }
    result.push_back(std::move(segment));
  }
  return result;
}

std::optional<std::string> torch_refuses(const std::string& options) {
  try {
    c10::CachingAllocator::setAllocatorSettings(
        "large_segment_size_mb:20");  // torch keeps it from text to text
    c10::CachingAllocator::setAllocatorSettings(options);
    return std::nullopt;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace shardlab

#include "engine/execute/torch/cuda/cuda_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/cuda/memory_snapshot.h>

#include "engine/base/output_file.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {

using c10::CachingDeviceAllocator::TraceEntry;

void book_device_blocks() {
  c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker([](const TraceEntry& event) {
    if (event.action_ == TraceEntry::ALLOC) {
      book_block(event.addr_, {static_cast<std::int64_t>(event.size_)});
    } else if (event.action_ == TraceEntry::FREE_REQUESTED) {
      unbook_block(event.addr_);
    }
  });
}

Bytes device_memory_in_use(c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard guard(device);
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {static_cast<std::int64_t>(total - free)};
}

void read_allocator_peaks(c10::DeviceIndex device, DeviceMemory& memory) {
  constexpr auto k_all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device);
  memory.requested = {stats.requested_bytes[k_all].peak};
  memory.allocated = {stats.allocated_bytes[k_all].peak};
  memory.active = {stats.active_bytes[k_all].peak};
  memory.reserved = {stats.reserved_bytes[k_all].peak};
  memory.inactive_split = {stats.inactive_split_bytes[k_all].peak};
  memory.retries = stats.num_alloc_retries;
  memory.out_of_memory = stats.num_ooms;
}

void record_allocator_history() {
  torch::cuda::_record_memory_history("all", std::nullopt, "cpp");
}

Status save_allocator_history(const std::filesystem::path& path) {
  try {
    return write_output_file(path, torch::cuda::_memory_snapshot_pickled());
  } catch (const std::exception& error) {
    return run_failed(in_file(path.string()), first_line(error.what()));
  }
}

}  // namespace shardlab

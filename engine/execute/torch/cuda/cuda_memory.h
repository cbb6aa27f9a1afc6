// Measured memory of one GPU: every block of libtorch's caching allocator booked by class, and what the
// allocator and the driver say.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include <c10/core/Device.h>
#include <cuda_runtime_api.h>

#include "engine/base/result.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/trace/device_memory.h"

namespace shardlab {

// From now on blocks of all devices are booked in the ledger that is current (LedgerScope) on the thread that
// allocates them, under its class (BufferClassScope), with the bytes asked for, from the allocation to the
// request to free. Once a process; needs an initialized allocator.
void book_device_blocks();

// In use on the device by the driver's count, by all processes.
Bytes device_memory_in_use(c10::DeviceIndex device);

// The allocator's peaks and counts since the start; the other fields stay as they are.
void read_allocator_peaks(c10::DeviceIndex device, DeviceMemory& memory);

void record_allocator_history();
Status save_allocator_history(const std::filesystem::path& path);

// "cudaEventRecord: out of memory (cudaErrorMemoryAllocation)".
inline std::string cuda_words(cudaError_t result, const char* what) {
  return std::string(what) + ": " + cudaGetErrorString(result) + " (" + cudaGetErrorName(result) + ")";
}

// CUDA's error codes as exceptions, for calls inside the executor, which catches them at its edge.
inline void check_cuda(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw std::runtime_error(cuda_words(result, what));
}

}  // namespace shardlab

// How much of a GPU's memory this process holds, by the driver's management library (NVML).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/units.h"

namespace shardlab {

// NVML's functions that are asked, as nvml.h declares them (CUDA 13).
struct ManagementLibrary {
  struct Process {  // nvmlProcessInfo_t
    unsigned int number;
    unsigned long long bytes;
    unsigned int gpu_instance, compute_instance;
  };
  int (*initialize)() = nullptr;                                            // nvmlInit_v2
  int (*device_by_uuid)(const char* uuid, void** device) = nullptr;         // nvmlDeviceGetHandleByUUID
  int (*processes)(void* device, unsigned int* count, Process*) = nullptr;  // ...ComputeRunningProcesses_v3
};

// libnvidia-ml.so.1 as the loader finds it; none without a driver.
std::optional<ManagementLibrary> load_management_library();

// What process `number` holds on the GPU "GPU-<uuid>". None where the library does not say: in a container
// with process numbers of its own, ours is not among those that it lists.
std::optional<Bytes> process_memory(const ManagementLibrary& library, const std::string& uuid, int number);

}  // namespace shardlab

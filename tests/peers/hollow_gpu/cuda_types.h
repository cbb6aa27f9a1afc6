// What CUDA 13's driver_types.h says of the types that torch reads: no CUDA toolkit is needed. Members have
// the places of CUDA's own.
#pragma once

#include <cstddef>

namespace hollow {

using Size = std::size_t;

enum Status : int { good = 0, no_memory = 2, not_ready = 600, not_supported = 801 };

enum Attribute : int {
  max_threads_a_block = 1,
  max_grid_x = 5,
  shared_memory_a_block = 8,
  warp_size = 10,
  multiprocessors = 16,
  capability_major = 75,
  shared_memory_a_block_opt_in = 97
};

struct DeviceProperties {  // cudaDeviceProp
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  Size total_memory, shared_memory_a_block;
  int registers_a_block, warp_size;
  Size pitch;
  int max_threads_a_block, max_threads[3], max_grid[3];
  Size constant_memory;
  int major, minor;
  Size texture_alignment[2];
  int multiprocessors, integrated, can_map_host_memory;
  int textures_and_surfaces[39];
  Size surface_alignment;
  int concurrent_kernels, ecc, pci[3], tcc, engines, unified_addressing, bus_width;
  int l2_cache, persisting_l2_cache, max_threads_a_multiprocessor, stream_priorities, l1_caches[2];
  Size shared_memory_a_multiprocessor;
  int registers_a_multiprocessor, managed_memory, boards[2], atomics, access[2], preemption;
  int host_pointers, cooperative_launch;
  Size shared_memory_a_block_opt_in;
  int host_pages[2], max_blocks_a_multiprocessor, access_window;
  Size reserved_shared_memory;
  int host_registration[3], semaphores, pools, rdma[3], pool_handles, deferred_mapping, ipc_events, clusters;
  int unified_functions, numa[2], mps, host_numa, ids[2], host_numa_ipc;
  int reserved[56];
};
static_assert(sizeof(DeviceProperties) == 1008);
static_assert(offsetof(DeviceProperties, total_memory) == 288);
static_assert(offsetof(DeviceProperties, major) == 360);
static_assert(offsetof(DeviceProperties, multiprocessors) == 384);
static_assert(offsetof(DeviceProperties, l2_cache) == 596);
static_assert(offsetof(DeviceProperties, max_threads_a_multiprocessor) == 604);
static_assert(offsetof(DeviceProperties, shared_memory_a_block_opt_in) == 672);
static_assert(offsetof(DeviceProperties, max_blocks_a_multiprocessor) == 688);
static_assert(offsetof(DeviceProperties, host_numa_ipc) == 780);

struct FunctionAttributes {  // cudaFuncAttributes
  Size shared, constant, local;
  int max_threads_a_block, registers, ptx_version, binary_version;
  int reserved[26];
};
static_assert(sizeof(FunctionAttributes) == 144);
static_assert(offsetof(FunctionAttributes, binary_version) == 36);

struct PointerAttributes {  // cudaPointerAttributes
  enum Kind : int { unregistered = 0, of_device = 2 };
  Kind kind;
  int device;
  const void *device_pointer, *host_pointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);
static_assert(offsetof(PointerAttributes, device_pointer) == 8);

}  // namespace hollow

// The CUDA runtime's functions on devices: one H100.
#include <cstring>

#include "tests/peers/hollow_gpu/gpu.h"

using hollow::DeviceProperties;
using hollow::good;
using hollow::Size;

namespace {

DeviceProperties properties_of_h100() {
  DeviceProperties properties{};
  std::strcpy(properties.name, "hollow");
  properties.total_memory = hollow::gpu().total;
  properties.shared_memory_a_block = 49152;
  properties.shared_memory_a_block_opt_in = 232448;
  properties.shared_memory_a_multiprocessor = 233472;
  properties.registers_a_block = properties.registers_a_multiprocessor = 65536;
  properties.warp_size = 32;
  properties.max_threads_a_block = properties.max_threads[0] = properties.max_threads[1] = 1024;
  properties.max_threads[2] = 64;
  properties.max_threads_a_multiprocessor = 2048;
  properties.max_blocks_a_multiprocessor = 32;
  properties.max_grid[0] = 2147483647;
  properties.max_grid[1] = properties.max_grid[2] = 65535;
  properties.major = 9;
  properties.multiprocessors = 132;
  properties.l2_cache = 52428800;
  return properties;
}

}  // namespace

extern "C" {

int cudaGetDeviceCount(int* count) {
  return *count = 1, good;
}
int cudaGetDevice(int* device) {
  return *device = 0, good;
}
int cudaSetDevice(int) {
  return good;
}
int cudaGetDeviceProperties(DeviceProperties* properties, int) {
  return *properties = properties_of_h100(), good;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  const DeviceProperties properties = properties_of_h100();
  switch (attribute) {
    case hollow::max_threads_a_block: *value = properties.max_threads_a_block; break;
    case hollow::max_grid_x: *value = properties.max_grid[0]; break;
    case hollow::shared_memory_a_block: *value = static_cast<int>(properties.shared_memory_a_block); break;
    case hollow::warp_size: *value = properties.warp_size; break;
    case hollow::multiprocessors: *value = properties.multiprocessors; break;
    case hollow::capability_major: *value = properties.major; break;
    case hollow::shared_memory_a_block_opt_in:
      *value = static_cast<int>(properties.shared_memory_a_block_opt_in);
      break;
    default: *value = 0;
  }
  return good;
}
int cudaDeviceSynchronize() {
  const hollow::Lock lock(hollow::gpu().mutex);
  return hollow::finish(hollow::gpu().recorded), good;
}
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, good;
}
int cudaDeviceCanAccessPeer(int* can, int, int) {
  return *can = 0, good;
}
int cudaDeviceGetPCIBusId(char* id, int length, int) {
  return std::strncpy(id, "0000:00:00.0", static_cast<Size>(length)), good;
}
int cudaDriverGetVersion(int* version) {
  return *version = 13000, good;
}
int cudaRuntimeGetVersion(int* version) {
  return *version = 13000, good;
}
int cudaGetLastError() {
  return good;
}
int cudaPeekAtLastError() {
  return good;
}
const char* cudaGetErrorString(int error) {
  return error == hollow::no_memory ? "out of memory" : "an error of the hollow GPU";
}
const char* cudaGetErrorName(int) {
  return "hollow";
}

}  // extern "C"

// What torch asks of the driver through the runtime: ranges of addresses into which memory is mapped, for
// expandable segments.
#include <string_view>

#include "tests/peers/hollow_gpu/gpu.h"

using hollow::good;
using hollow::Lock;
using hollow::Size;

namespace {

int reserve(std::uint64_t* address, Size size, Size, std::uint64_t, unsigned long long) {
  const Lock lock(hollow::gpu().mutex);
  return *address = hollow::place(size), good;
}
// A handle is its size: nothing else is asked of it.
int create(std::uint64_t* handle, Size size, const void*, unsigned long long) {
  const Lock lock(hollow::gpu().mutex);
  if (!hollow::take(size)) return hollow::no_memory;
  return *handle = size, good;
}
int release(std::uint64_t handle) {
  const Lock lock(hollow::gpu().mutex);
  return hollow::gpu().used -= handle, good;
}
int attribute(int* value, int, int) {
  return *value = 0, good;
}
int granularity(Size* size, const void*, int) {
  return *size = Size{2} << 20U, good;
}
int nothing() {
  return good;
}
int unsupported() {
  return hollow::not_supported;
}

void* code_of(std::string_view name) {
  if (name == "cuMemAddressReserve") return reinterpret_cast<void*>(&reserve);
  if (name == "cuMemCreate") return reinterpret_cast<void*>(&create);
  if (name == "cuMemRelease") return reinterpret_cast<void*>(&release);
  if (name == "cuDeviceGetAttribute") return reinterpret_cast<void*>(&attribute);
  if (name == "cuMemGetAllocationGranularity") return reinterpret_cast<void*>(&granularity);
  for (const char* done : {"cuDeviceGet", "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemAddressFree"})
    if (name == done) return reinterpret_cast<void*>(&nothing);
  return reinterpret_cast<void*>(&unsupported);
}

}  // namespace

extern "C" int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                                unsigned long long, int* status) {
  *function = code_of(symbol);
  if (status != nullptr) *status = 0;
  return good;
}

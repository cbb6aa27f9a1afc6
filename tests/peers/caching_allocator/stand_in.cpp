// The functions of the CUDA runtime and driver that torch 2.11's libc10_cuda.so calls, for a device without
// hardware: a library that takes the place of libcudart.so.13.
#include "tests/peers/caching_allocator/stand_in.h"

#include <cstring>
#include <string_view>
#include <unordered_map>

namespace {

using Size = std::size_t;
enum Status { good = 0, no_memory = 2, not_ready = 600, not_supported = 801 };

struct Device {
  Size total = Size{1} << 30U, available = Size{1} << 30U, used = 0;
  std::uint64_t places = 0;
};
struct Stream {
  std::int64_t recorded = 0, done = 0;
};
struct Event {
  Stream* stream = nullptr;
  std::int64_t number = 0;  // of the events of its stream, from 1
};

struct State {
  Device devices[k_stand_in_devices];
  std::unordered_map<std::uint64_t, Size> allocations;
  std::unordered_map<void*, Stream> streams[k_stand_in_devices];  // the default one is nullptr on each
  int device = 0;
};
State& state() {
  static State the_state;
  return the_state;
}
Stream& stream_of(void* stream) {
  return state().streams[state().device][stream];
}
Device& current() {
  return state().devices[state().device];
}

}  // namespace

extern "C" {

void stand_in_device(int device, std::int64_t total, std::int64_t available) {
  state().devices[device] = {static_cast<Size>(total), static_cast<Size>(available), 0, 0};
}
void stand_in_complete(void* stream, std::int64_t count) {
  Stream& the = stream_of(stream);
  if (count > the.done) the.done = count < the.recorded ? count : the.recorded;
}
// Slots of 32 GiB, in an order that neither rises nor falls.
std::uint64_t stand_in_place(std::uint64_t n) {
  return (1 + (n * 1237 + 500) % 4093) << 35U;
}

// --- devices
int cudaGetDeviceCount(int* count) {
  return *count = k_stand_in_devices, good;
}
int cudaGetDevice(int* device) {
  return *device = state().device, good;
}
int cudaSetDevice(int device) {
  return state().device = device, good;
}
int cudaGetDeviceProperties(char* properties, int device) {  // cudaDeviceProp of CUDA 13
  constexpr Size k_total_memory = 288;
  std::memset(properties, 0, k_total_memory);
  std::memcpy(properties + k_total_memory, &state().devices[device].total, sizeof(Size));
  return good;
}
int cudaMemGetInfo(Size* free, Size* total) {
  *free = current().available - current().used;
  return *total = current().total, good;
}
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, good;
}
int cudaDriverGetVersion(int* version) {
  return *version = 13000, good;
}
int cudaGetLastError() {
  return good;
}
const char* cudaGetErrorString(int) {
  return "an error of the stand-in";
}
const char* cudaGetErrorName(int) {
  return "stand-in";
}

// --- memory
int cudaMalloc(void** address, Size size) {
  if (current().used + size > current().available) return no_memory;
  const std::uint64_t place = stand_in_place(current().places++);
  current().used += size;
  state().allocations[place + static_cast<std::uint64_t>(state().device)] = size;
  return *address = reinterpret_cast<void*>(place), good;
}
int cudaFree(void* address) {
  const auto key = reinterpret_cast<std::uint64_t>(address) + static_cast<std::uint64_t>(state().device);
  current().used -= state().allocations[key];
  return state().allocations.erase(key), good;
}

// --- streams and events
int cudaStreamCreateWithPriority(void** stream, unsigned, int) {
  return *stream = new char, good;
}
int cudaStreamIsCapturing(void*, int* status) {
  return *status = 0, good;
}
int cudaStreamSynchronize(void* stream) {
  return stream_of(stream).done = stream_of(stream).recorded, good;
}
int cudaThreadExchangeStreamCaptureMode(int*) {
  return good;
}
int cudaEventCreateWithFlags(Event** event, unsigned) {
  return *event = new Event, good;
}
int cudaEventDestroy(Event* event) {
  return delete event, good;
}
int cudaEventRecord(Event* event, void* stream) {
  Stream& the = stream_of(stream);
  return *event = {&the, ++the.recorded}, good;
}
int cudaEventQuery(const Event* event) {
  return event->number <= event->stream->done ? good : not_ready;
}
int cudaEventSynchronize(const Event* event) {
  if (event->stream->done < event->number) event->stream->done = event->number;
  return good;
}

// --- the driver's part: ranges of addresses into which memory is mapped. A handle is the size of what it
// names.
static int reserve(std::uint64_t* address, Size, Size, std::uint64_t, unsigned long long) {
  return *address = stand_in_place(current().places++), good;
}
static int create(std::uint64_t* handle, Size size, const void*, unsigned long long) {
  if (current().used + size > current().available) return no_memory;
  current().used += size;
  return *handle = size, good;
}
static int release(std::uint64_t handle) {
  return current().used -= handle, good;
}
static int attribute(int* value, int, int) {
  return *value = 0, good;
}
static int granularity(Size* size, const void*, int) {
  return *size = Size{2} << 20U, good;
}
static int driver_error(int, const char** text) {
  return *text = "an error of the stand-in", good;
}
static int nothing() {
  return good;
}
static int unsupported() {
  return not_supported;
}

int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                     int* status) {
  const std::string_view name = symbol;
  const auto is = [&](std::string_view other, auto* code) {
    if (name == other) *function = reinterpret_cast<void*>(code);
  };
  *function = reinterpret_cast<void*>(&unsupported);
  is("cuMemAddressReserve", &reserve);
  is("cuMemCreate", &create);
  is("cuMemRelease", &release);
  is("cuDeviceGetAttribute", &attribute);
  is("cuMemGetAllocationGranularity", &granularity);
  is("cuGetErrorString", &driver_error);
  for (const auto* done : {"cuDeviceGet", "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemAddressFree"})
    is(done, &nothing);
  if (status != nullptr) *status = 0;
  return good;
}

// --- what the allocator calls in other settings
#define UNSUPPORTED(name) \
  int name() {            \
    return not_supported; \
  }
UNSUPPORTED(cudaDeviceCanAccessPeer)
UNSUPPORTED(cudaDeviceEnablePeerAccess)
UNSUPPORTED(cudaDeviceGetDefaultMemPool)
UNSUPPORTED(cudaDeviceSynchronize)
UNSUPPORTED(cudaEventElapsedTime)
UNSUPPORTED(cudaFreeAsync)
UNSUPPORTED(cudaGraphNodeGetDependencies)
UNSUPPORTED(cudaIpcCloseMemHandle)
UNSUPPORTED(cudaIpcGetMemHandle)
UNSUPPORTED(cudaIpcOpenMemHandle)
UNSUPPORTED(cudaMallocAsync)
UNSUPPORTED(cudaMemPoolGetAttribute)
UNSUPPORTED(cudaMemPoolSetAccess)
UNSUPPORTED(cudaMemPoolSetAttribute)
UNSUPPORTED(cudaMemPoolTrimTo)
UNSUPPORTED(cudaMemcpy)
UNSUPPORTED(cudaMemcpyAsync)
UNSUPPORTED(cudaMemcpyPeerAsync)
UNSUPPORTED(cudaStreamGetCaptureInfo)
UNSUPPORTED(cudaStreamGetPriority)
UNSUPPORTED(cudaStreamQuery)
UNSUPPORTED(cudaStreamWaitEvent)

}  // extern "C"

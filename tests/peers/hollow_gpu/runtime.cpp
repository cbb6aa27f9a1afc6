// The functions of the CUDA runtime that torch 2.11's libraries call, for a GPU that computes nothing:
// kernels are not run, memory is numbers, copies to the host give zeros. What is left is what torch does on
// the host: streams, events and every call of its caching allocator.
//
// Preloaded (LD_PRELOAD), it comes before libcudart.so.13. Events are done when somebody waits for them
// (HOLLOW_EVENTS=waited, the default: a GPU far behind its host) or at once (HOLLOW_EVENTS=at_once).
#include <driver_types.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace {

using Size = std::size_t;
enum Status { good = 0, no_memory = 2, not_ready = 600, not_supported = 801 };

constexpr std::uint64_t k_first_address = std::uint64_t{1} << 44U, k_last_address = std::uint64_t{1} << 46U;

Size number_of(const char* name, Size otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Event {
  std::int64_t number = 0;  // of all events, from 1; 0: never recorded
};

struct State {
  std::recursive_mutex mutex;
  Size total = number_of("HOLLOW_MEMORY", Size{80} << 30U), used = 0;
  std::uint64_t next_address = k_first_address;
  std::unordered_map<std::uint64_t, Size> allocations;
  std::int64_t recorded = 0, done = 0;  // events
  const bool at_once = [] {
    const char* text = std::getenv("HOLLOW_EVENTS");
    return text != nullptr && std::string_view(text) == "at_once";
  }();
};
State& state() {
  static State the_state;
  return the_state;
}

bool on_device(const void* address) {
  const auto value = reinterpret_cast<std::uint64_t>(address);
  return value >= k_first_address && value < k_last_address;
}

std::uint64_t place(Size size) {
  constexpr std::uint64_t k_page = std::uint64_t{2} << 20U;
  const std::uint64_t address = state().next_address;
  state().next_address += (size + k_page - 1) / k_page * k_page + k_page;
  return address;
}

void copy(void* to, const void* from, Size size) {
  if (on_device(to)) return;
  if (on_device(from))
    std::memset(to, 0, size);
  else
    std::memcpy(to, from, size);
}

// The streams of the GPU go at one pace: everything that was issued before the event is done as well.
void finish(std::int64_t event) {
  if (state().done < event) state().done = event;
}

using Lock = std::lock_guard<std::recursive_mutex>;

}  // namespace

extern "C" {

// --- devices
int cudaGetDeviceCount(int* count) {
  return *count = 1, good;
}
int cudaGetDevice(int* device) {
  return *device = 0, good;
}
int cudaSetDevice(int) {
  return good;
}
int cudaDeviceSynchronize() {
  const Lock lock(state().mutex);
  return finish(state().recorded), good;
}
int cudaGetDeviceProperties(cudaDeviceProp* properties, int) {  // of an H100
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "hollow");
  properties->totalGlobalMem = state().total;
  properties->sharedMemPerBlock = 49152;
  properties->sharedMemPerBlockOptin = 232448;
  properties->sharedMemPerMultiprocessor = 233472;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->l2CacheSize = 52428800;
  return good;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  *value = 0;
  if (attribute == cudaDevAttrMaxThreadsPerBlock) *value = 1024;
  if (attribute == cudaDevAttrMultiProcessorCount) *value = 132;
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlock) *value = 49152;
  if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) *value = 232448;
  if (attribute == cudaDevAttrComputeCapabilityMajor) *value = 9;
  if (attribute == cudaDevAttrWarpSize) *value = 32;
  if (attribute == cudaDevAttrMaxGridDimX) *value = 2147483647;
  return good;
}
int cudaMemGetInfo(Size* free, Size* total) {
  const Lock lock(state().mutex);
  *free = state().total - state().used;
  return *total = state().total, good;
}
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, good;
}
int cudaDeviceCanAccessPeer(int* can, int, int) {
  return *can = 0, good;
}
int cudaDeviceGetPCIBusId(char* id, int length, int) {
  return std::strncpy(id, "0000:00:00.0", Size(length)), good;
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
const char* cudaGetErrorString(int) {
  return "an error of the hollow GPU";
}
const char* cudaGetErrorName(int) {
  return "hollow";
}

// --- memory
int cudaMalloc(void** address, Size size) {
  const Lock lock(state().mutex);
  if (state().used + size > state().total) return no_memory;
  const std::uint64_t at = place(size);
  state().used += size;
  state().allocations[at] = size;
  return *address = reinterpret_cast<void*>(at), good;
}
int cudaFree(void* address) {
  const Lock lock(state().mutex);
  const auto key = reinterpret_cast<std::uint64_t>(address);
  state().used -= state().allocations[key];
  return state().allocations.erase(key), good;
}
int cudaHostAlloc(void** address, Size size, unsigned) {
  return *address = std::calloc(1, size), good;
}
int cudaFreeHost(void* address) {
  return std::free(address), good;
}
int cudaHostRegister(void*, Size, unsigned) {
  return good;
}
int cudaHostUnregister(void*) {
  return good;
}
int cudaMemcpy(void* to, const void* from, Size size, int) {
  return copy(to, from, size), good;
}
int cudaMemcpyAsync(void* to, const void* from, Size size, int, void*) {
  return copy(to, from, size), good;
}
int cudaMemcpyPeerAsync(void*, int, const void*, int, Size, void*) {
  return good;
}
int cudaMemcpyToSymbol(const void*, const void*, Size, Size, int) {
  return good;
}
int cudaMemset(void*, int, Size) {
  return good;
}
int cudaMemsetAsync(void*, int, Size, void*) {
  return good;
}
int cudaGetSymbolAddress(void** address, const void*) {
  return *address = reinterpret_cast<void*>(k_first_address - 4096), good;
}
int cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->type = on_device(address) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->devicePointer = const_cast<void*>(address);
  return good;
}

// --- streams and events
int cudaStreamCreate(void** stream) {
  return *stream = new char, good;
}
int cudaStreamCreateWithPriority(void** stream, unsigned, int) {
  return *stream = new char, good;
}
int cudaStreamDestroy(void*) {
  return good;
}
int cudaStreamGetPriority(void*, int* priority) {
  return *priority = 0, good;
}
int cudaStreamIsCapturing(void*, int* status) {
  return *status = 0, good;
}
int cudaStreamGetCaptureInfo(void*, int* status, std::uint64_t* id, void*, void*, void*, void*) {
  if (id != nullptr) *id = 0;
  return *status = 0, good;
}
int cudaStreamSynchronize(void*) {
  const Lock lock(state().mutex);
  return finish(state().recorded), good;
}
int cudaStreamQuery(void*) {
  return good;
}
int cudaStreamWaitEvent(void*, const Event*, unsigned) {
  return good;
}
int cudaThreadExchangeStreamCaptureMode(int*) {
  return good;
}
int cudaEventCreate(Event** event) {
  return *event = new Event, good;
}
int cudaEventCreateWithFlags(Event** event, unsigned) {
  return *event = new Event, good;
}
int cudaEventDestroy(Event* event) {
  return delete event, good;
}
int cudaEventRecord(Event* event, void*) {
  const Lock lock(state().mutex);
  event->number = ++state().recorded;
  if (state().at_once) finish(event->number);
  return good;
}
int cudaEventRecordWithFlags(Event* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}
int cudaEventQuery(const Event* event) {
  const Lock lock(state().mutex);
  return event->number <= state().done ? good : not_ready;
}
int cudaEventSynchronize(const Event* event) {
  const Lock lock(state().mutex);
  return finish(event->number), good;
}
int cudaEventElapsedTime(float* milliseconds, const Event*, const Event*) {
  return *milliseconds = 1, good;
}

// --- kernels
void** __cudaRegisterFatBinary(void*) {
  static void* handle[16];
  return handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, Size, int, int) {}
unsigned __cudaPushCallConfiguration(unsigned long long, unsigned, unsigned long long, unsigned, Size,
                                     void*) {
  return 0;
}
int __cudaPopCallConfiguration(void*, void*, Size* shared, void* stream) {
  *shared = 0;
  std::memset(stream, 0, sizeof(void*));
  return good;
}
int __cudaGetKernel(void** kernel, const void* function) {
  return *kernel = const_cast<void*>(function), good;
}
int __cudaLaunchKernel(...) {
  return good;
}
int cudaLaunchKernel(...) {
  return good;
}
int cudaLaunchKernelExC(...) {
  return good;
}
int cudaLaunchCooperativeKernel(...) {
  return good;
}
int cudaLaunchHostFunc(void*, void (*function)(void*), void* argument) {
  return function(argument), good;
}
int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* argument, unsigned) {
  return function(stream, 0, argument), good;
}
int cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return good;
}
int cudaFuncSetAttribute(const void*, int, int) {
  return good;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, Size) {
  return *blocks = 2, good;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, Size, unsigned) {
  return *blocks = 2, good;
}
int cudaProfilerStart() {
  return good;
}
int cudaProfilerStop() {
  return good;
}

// --- the driver's part: ranges of addresses into which memory is mapped
static int reserve(std::uint64_t* address, Size size, Size, std::uint64_t, unsigned long long) {
  const Lock lock(state().mutex);
  return *address = place(size), good;
}
static int create(std::uint64_t* handle, Size size, const void*, unsigned long long) {
  const Lock lock(state().mutex);
  if (state().used + size > state().total) return no_memory;
  state().used += size;
  return *handle = size, good;
}
static int release(std::uint64_t handle) {
  const Lock lock(state().mutex);
  return state().used -= handle, good;
}
static int attribute(int* value, int, int) {
  return *value = 0, good;
}
static int granularity(Size* size, const void*, int) {
  return *size = Size{2} << 20U, good;
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
  for (const auto* done : {"cuDeviceGet", "cuMemMap", "cuMemUnmap", "cuMemSetAccess", "cuMemAddressFree"})
    is(done, &nothing);
  if (status != nullptr) *status = 0;
  return good;
}

}  // extern "C"

// The CUDA runtime's functions on streams and events. An event is done when somebody waits for it or for a
// later one: a GPU far behind its host (gpu.h, Pace).
#include "tests/peers/hollow_gpu/gpu.h"

using hollow::Event;
using hollow::good;
using hollow::gpu;
using hollow::Lock;

extern "C" {

int cudaStreamCreate(void** stream) {
  return *stream = new char, good;
}
int cudaStreamCreateWithPriority(void** stream, unsigned, int) {
  return *stream = new char, good;
}
int cudaStreamDestroy(void* stream) {
  return delete static_cast<char*>(stream), good;
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
int cudaStreamSynchronize(void* stream) {
  const Lock lock(gpu().mutex);
  return hollow::finish(hollow::record(stream).needs), good;
}
int cudaStreamQuery(void*) {
  return good;
}
int cudaStreamWaitEvent(void* stream, const Event* event, unsigned) {
  const Lock lock(gpu().mutex);
  return hollow::wait(stream, *event), good;
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
int cudaEventRecord(Event* event, void* stream) {
  const Lock lock(gpu().mutex);
  return *event = hollow::record(stream), good;
}
int cudaEventRecordWithFlags(Event* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}
int cudaEventQuery(const Event* event) {
  const Lock lock(gpu().mutex);
  return hollow::is_done(*event) ? good : hollow::not_ready;
}
int cudaEventSynchronize(const Event* event) {
  const Lock lock(gpu().mutex);
  return hollow::finish(event->needs), good;
}
int cudaEventElapsedTime(float* milliseconds, const Event*, const Event*) {
  return *milliseconds = 1, good;
}

}  // extern "C"

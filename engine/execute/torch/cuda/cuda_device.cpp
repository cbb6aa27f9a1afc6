#include "engine/execute/torch/cuda/cuda_device.h"

#include <algorithm>
#include <thread>

#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include "engine/execute/streams/device_failure.h"
#include "engine/execute/torch/cuda/cuda_memory.h"

namespace shardlab {

// Events are used again: making one costs more than recording it.
class CudaDevice::Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (const cudaEvent_t event : free_) cudaEventDestroy(event);
  }
  cudaEvent_t take() {
    if (free_.empty()) {
      cudaEvent_t made = nullptr;
      check_cuda(cudaEventCreate(&made), "cudaEventCreate");
      return made;
    }
    const cudaEvent_t event = free_.back();
    free_.pop_back();
    return event;
  }
  void give_back(cudaEvent_t event) { free_.push_back(event); }

 private:
  std::vector<cudaEvent_t> free_;
};

namespace {

// Gives its event back when the last holder lets go.
template <typename Pool>
struct CudaEvent : StreamEvent {
  explicit CudaEvent(std::shared_ptr<Pool> from) : pool(std::move(from)), event(pool->take()) {}
  ~CudaEvent() override { pool->give_back(event); }
  std::shared_ptr<Pool> pool;
  cudaEvent_t event;
};

}  // namespace

CudaDevice::CudaDevice(c10::DeviceIndex ordinal, FailureWatch& watch, std::chrono::milliseconds timeout)
    : ordinal_(ordinal), watch_(watch), timeout_(timeout), pool_(std::make_shared<Pool>()) {}

QueueIndex CudaDevice::queue(const std::string& name) {
  const auto known =
      std::find_if(queues_.begin(), queues_.end(), [&](const Queue& q) { return q.name == name; });
  if (known != queues_.end()) return static_cast<QueueIndex>(known - queues_.begin());
  queues_.push_back({name, name == "compute"
                               ? c10::cuda::getDefaultCUDAStream(ordinal_)
                               : c10::cuda::getStreamFromPool(/*isHighPriority=*/true, ordinal_)});
  return static_cast<QueueIndex>(queues_.size() - 1);
}

void CudaDevice::use(QueueIndex queue) {
  c10::cuda::setCurrentCUDAStream(queues_[queue].stream);
}

EventHandle CudaDevice::record(QueueIndex queue) {
  auto event = std::make_shared<CudaEvent<Pool>>(pool_);
  check_cuda(cudaEventRecord(event->event, queues_[queue].stream.stream()), "cudaEventRecord");
  return event;
}

void CudaDevice::wait(QueueIndex queue, const EventHandle& event) {
  check_cuda(cudaStreamWaitEvent(queues_[queue].stream.stream(),
                                 static_cast<const CudaEvent<Pool>&>(*event).event, 0),
             "cudaStreamWaitEvent");
}

bool CudaDevice::passed(const EventHandle& event) {
  const cudaError_t state = cudaEventQuery(static_cast<const CudaEvent<Pool>&>(*event).event);
  if (state == cudaErrorNotReady) {
    (void)cudaGetLastError();  // not an error of anybody
    return false;
  }
  if (state == cudaSuccess) return true;
  throw DeviceFailure(cuda_words(state, "the device failed"));
}

void CudaDevice::block(const EventHandle& event) {
  constexpr std::chrono::microseconds k_spin{200}, k_nap{20};
  const auto began = std::chrono::steady_clock::now();
  while (!passed(event)) {
    watch_.check();
    const auto waited = std::chrono::steady_clock::now() - began;
    if (waited > timeout_) {
      watch_.fail(fmt::format("the device did not get on within {} s",
                              std::chrono::duration_cast<std::chrono::seconds>(timeout_).count()));
    }
    if (waited > k_spin) std::this_thread::sleep_for(k_nap);
  }
  watch_.check();
}

void CudaDevice::delay(QueueIndex queue, Nanoseconds time) {
  if (clock_khz_ == 0) {
    int khz = 0;
    check_cuda(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal_), "cudaDeviceGetAttribute");
    clock_khz_ = khz;
  }
  const c10::cuda::CUDAStreamGuard guard(queues_[queue].stream);
  at::cuda::sleep(time.value * clock_khz_ / 1'000'000);
}

void CudaDevice::drain() {
  std::vector<EventHandle> ends;
  for (QueueIndex queue = 0; queue < queues_.size(); ++queue) ends.push_back(record(queue));
  for (const EventHandle& end : ends) block(end);
}

Nanoseconds CudaDevice::between(const EventHandle& earlier, const EventHandle& later) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, static_cast<const CudaEvent<Pool>&>(*earlier).event,
                                  static_cast<const CudaEvent<Pool>&>(*later).event),
             "cudaEventElapsedTime");
  return {static_cast<std::int64_t>(static_cast<double>(milliseconds) * 1e6)};
}

bool CudaDevice::failed_between(const EventHandle& start, const EventHandle& end) {
  return passed(start) && end && !passed(end);
}

}  // namespace shardlab

// The plan's queues as CUDA streams, its events as CUDA events.
//
// "compute" is the device's default stream, on which PyTorch trains as well; all others come from libtorch's
// pool of high-priority streams, as FSDP takes them (torch 2.11). Events keep time. Waiting of the host is
// polling, so that a failure that the watch finds ends it.
#pragma once

#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/execute/streams/stream_device.h"
#include "engine/execute/watch/failure_watch.h"

namespace shardlab {

class CudaDevice : public StreamDevice {
 public:
  // `timeout`: how long one wait of the host may take.
  CudaDevice(c10::DeviceIndex ordinal, FailureWatch& watch, std::chrono::milliseconds timeout);

  Queueing queueing() const override { return Queueing::by_stream; }
  QueueIndex queue(const std::string& name) override;
  void use(QueueIndex queue) override;
  EventHandle record(QueueIndex queue) override;
  void wait(QueueIndex queue, const EventHandle& event) override;
  void block(const EventHandle& event) override;
  void delay(QueueIndex queue, Nanoseconds time) override;
  void drain() override;
  Nanoseconds between(const EventHandle& earlier, const EventHandle& later) override;
  // The work that the device has begun and not ended is what it is stuck in.
  bool failed_between(const EventHandle& start, const EventHandle& end) override;

  c10::cuda::CUDAStream stream(QueueIndex queue) const { return queues_[queue].stream; }

 private:
  bool passed(const EventHandle& event);
  struct Queue {
    std::string name;
    c10::cuda::CUDAStream stream;
  };
  class Pool;

  c10::DeviceIndex ordinal_;
  FailureWatch& watch_;
  std::chrono::milliseconds timeout_;
  std::int64_t clock_khz_ = 0;  // of the device; zero until somebody asks for a delay
  std::vector<Queue> queues_;
  std::shared_ptr<Pool> pool_;  // of events; those given out keep it alive
};

}  // namespace shardlab

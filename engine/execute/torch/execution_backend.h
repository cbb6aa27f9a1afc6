// A device that works asynchronously, seen by the executor: where tensors live, its queues, its operators.
//
// Without one the executor works on the host (StepRunner). CUDA's is cuda/cuda_backend.h; ImmediateBackend
// runs the same path on a processor, for tests.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

#include "engine/execute/streams/stream_device.h"
#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

class ExecutionBackend {
 public:
  ExecutionBackend() = default;
  ExecutionBackend(const ExecutionBackend&) = delete;
  ExecutionBackend& operator=(const ExecutionBackend&) = delete;
  virtual ~ExecutionBackend() = default;

  virtual c10::Device device() const = 0;
  virtual StreamDevice& streams() = 0;
  // Null when there is none of this name.
  virtual const OperatorImplementation* find_operator(std::string_view name) const = 0;
  // The tensor's memory is not handed on before the queue has come to where it is now (record_stream).
  virtual void keep_for(const at::Tensor& tensor, QueueIndex queue) = 0;
  // Host memory that the device copies from and to without blocking the host.
  virtual at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const = 0;
};

// A processor as such a device: CPU tensors, an ImmediateDevice, the operators for devices.
std::shared_ptr<ExecutionBackend> make_immediate_backend();

}  // namespace shardlab

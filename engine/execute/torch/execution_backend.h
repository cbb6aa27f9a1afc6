// What the executor works on: where tensors live, the queues, the operators. The host's is
// host/host_backend.h, CUDA's cuda/cuda_backend.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "engine/execute/streams/stream_device.h"
#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// In which of two ways operators and instructions compute.
enum class Arithmetic : std::uint8_t {
  host,    // loops over memory that this process reads and writes, without temporaries that no plan knows
  device,  // libtorch's operators alone, as few calls as possible: right on any device, never waited for
};

class ExecutionBackend {
 public:
  ExecutionBackend() = default;
  ExecutionBackend(const ExecutionBackend&) = delete;
  ExecutionBackend& operator=(const ExecutionBackend&) = delete;
  virtual ~ExecutionBackend() = default;

  virtual c10::Device device() const = 0;
  virtual Arithmetic arithmetic() const = 0;
  virtual StreamDevice& streams() = 0;
  // Null when there is none of this name.
  virtual const OperatorImplementation* find_operator(std::string_view name) const = 0;
  // The tensor's memory is not handed on before the queue has come to where it is now (record_stream).
  virtual void keep_for(const at::Tensor& tensor, QueueIndex queue) = 0;
  // Host memory that the device copies from and to without blocking the host; not booked in a rank's ledger.
  virtual at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const = 0;
};

}  // namespace shardlab

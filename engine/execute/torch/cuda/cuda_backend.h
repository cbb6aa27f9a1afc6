// Tensors on one GPU, as the executor works with them.
#pragma once

#include "engine/execute/torch/cuda/cuda_device.h"
#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

class CudaBackend : public ExecutionBackend {
 public:
  CudaBackend(c10::DeviceIndex ordinal, FailureWatch& watch, std::chrono::milliseconds timeout)
      : ordinal_(ordinal), streams_(ordinal, watch, timeout) {}

  c10::Device device() const override { return {c10::kCUDA, ordinal_}; }
  Arithmetic arithmetic() const override { return Arithmetic::device; }
  StreamDevice& streams() override { return streams_; }
  // Kernels of our own where there are any, else ATen's.
  const OperatorImplementation* find_operator(std::string_view name) const override;
  void keep_for(const at::Tensor& tensor, QueueIndex queue) override;
  at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const override;

 private:
  c10::DeviceIndex ordinal_;
  CudaDevice streams_;
};

}  // namespace shardlab

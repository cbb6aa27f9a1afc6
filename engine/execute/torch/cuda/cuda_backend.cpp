#include "engine/execute/torch/cuda/cuda_backend.h"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {

const OperatorImplementation* CudaBackend::find_operator(std::string_view name) const {
  const OperatorImplementation* own = find_cuda_implementation(name);
  return own != nullptr ? own : find_device_implementation(name);
}

void CudaBackend::keep_for(const at::Tensor& tensor, QueueIndex queue) {
  c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), streams_.stream(queue));
}

at::Tensor CudaBackend::host_memory(std::int64_t elements, c10::ScalarType dtype) const {
  return at::empty({elements}, at::TensorOptions(dtype).pinned_memory(true));
}

}  // namespace shardlab

#include "engine/execute/torch/cuda/cuda_backend.h"

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>

namespace shardlab {

const OperatorImplementation* CudaBackend::find_operator(std::string_view name) const {
  return find_implementation(name);
}

void CudaBackend::keep_for(const at::Tensor& tensor, QueueIndex queue) {
  c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), streams_.stream(queue));
}

at::Tensor CudaBackend::host_memory(std::int64_t elements, c10::ScalarType dtype) const {
  return at::empty({elements}, at::TensorOptions(dtype).pinned_memory(true));
}

}  // namespace shardlab

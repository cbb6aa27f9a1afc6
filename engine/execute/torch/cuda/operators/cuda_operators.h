// Operators that call our own kernels (engine/kernels/cuda) on the current CUDA stream of the tensors'
// device: for contiguous CUDA tensors in float32 and bfloat16. Whatever else they are handed goes to the
// implementations for devices (operators/aten), whose contract they share.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/kernels/cuda/launches.h"

namespace shardlab {

// The override of this name; null when there is none, as for every name in a build without nvcc.
const OperatorImplementation* find_cuda_implementation(std::string_view name);

extern const OperatorImplementation k_cuda_cross_entropy;
extern const OperatorImplementation k_cuda_rms_norm;
extern const OperatorImplementation k_cuda_rope;
extern const OperatorImplementation k_cuda_swiglu;

// From CUDA tensors to the pointers and the stream that launches take.

// Whether there are kernels for these tensors; undefined ones do not count.
inline bool kernels_take(at::ScalarType dtype, std::initializer_list<std::span<const at::Tensor>> tensors) {
  if (dtype != at::kFloat && dtype != at::kBFloat16) return false;
  for (const std::span<const at::Tensor> some : tensors) {
    const bool good = std::all_of(some.begin(), some.end(), [](const at::Tensor& tensor) {
      return !tensor.defined() || (tensor.is_cuda() && tensor.is_contiguous());
    });
    if (!good) return false;
  }
  return true;
}

// The first element; null for an undefined tensor.
template <typename T>
T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.data_ptr()) : nullptr;
}

// Calls launch(T{}, stream) with T the kernels' name for the element type of `tensor`, whose device is made
// the current one meanwhile.
template <typename F>
void launch_for(const at::Tensor& tensor, F&& launch) {
  const c10::DeviceGuard guard(tensor.device());
  const kernels::Stream stream = c10::cuda::getCurrentCUDAStream(tensor.device().index()).stream();
  if (tensor.scalar_type() == at::kFloat) {
    launch(float{}, stream);
  } else {
    launch(kernels::BFloat16{}, stream);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace shardlab

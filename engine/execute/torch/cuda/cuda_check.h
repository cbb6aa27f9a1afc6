// CUDA's error codes as exceptions, for calls inside the executor, which catches them at its edge.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace shardlab {

inline void check_cuda(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result) + " (" +
                           cudaGetErrorName(result) + ")");
}

}  // namespace shardlab

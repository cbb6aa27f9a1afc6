// Device memory that frees itself, and errors that end the program with their place.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace shardlab::test {

inline void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
#define SHARDLAB_CUDA(call) ::shardlab::test::check_cuda(call, #call)

inline constexpr int k_skipped = 77;

// Ends the program with the exit code of a skipped test where there is no device.
inline void need_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaSuccess && devices > 0) return;
  std::printf("skipped: no CUDA device (%s)\n",
              error == cudaSuccess ? "none is visible" : cudaGetErrorString(error));
  std::exit(k_skipped);
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    SHARDLAB_CUDA(cudaMalloc(&data_, count * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    SHARDLAB_CUDA(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() { return data_; }
  std::size_t size() const { return count_; }
  std::vector<T> values() const {
    std::vector<T> copy(count_);
    SHARDLAB_CUDA(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace shardlab::test

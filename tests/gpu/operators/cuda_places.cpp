// The places of the operators' tests on a machine with a GPU: this file takes the place of host_places.cpp,
// so that every case runs on the device, with our own kernels and without.
#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <cstdio>
#include <cstdlib>

#include "engine/execute/torch/cuda/operators/cuda_operators.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "tests/unit/execute/torch/place.h"

namespace shardlab::test {
namespace {

constexpr int k_skipped = 77;

const OperatorImplementation* find_kernel_or_device(std::string_view name) {
  const OperatorImplementation* own = find_cuda_implementation(name);
  return own != nullptr ? own : find_device_implementation(name);
}

}  // namespace

std::vector<Place> all_places() {
  if (!at::hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0) {
    std::printf("skipped: no CUDA device\n");
    std::exit(k_skipped);
  }
  return {{"on a GPU", c10::kCUDA, find_device_implementation, 4},
          {"on a GPU with kernels of our own", c10::kCUDA, find_kernel_or_device, 4}};
}

}  // namespace shardlab::test

// Single numbers that a device computes and the host wants to know after the step, without waiting for them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace shardlab {

class LateScalars {
 public:
  // `host` as of ExecutionBackend::host_memory, float32: room for as many numbers as it has elements.
  explicit LateScalars(at::Tensor host) : host_(std::move(host)) {}

  // Copies the only element of `value` on the current queue. Throws when there is no room.
  void read(const at::Tensor& value, std::function<void(double)> then);
  // Hands out what was read; the device must be through with the step.
  void deliver();

 private:
  at::Tensor host_;
  std::vector<std::function<void(double)>> then_;
};

}  // namespace shardlab

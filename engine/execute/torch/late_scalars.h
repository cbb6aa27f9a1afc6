// Single numbers that a device computes and the host wants to know after the step, without waiting for them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "engine/execute/torch/execution_backend.h"

namespace shardlab {

class LateScalars {
 public:
  LateScalars(const ExecutionBackend& backend, std::int64_t most);

  // Copies the only element of `value`, float32 or float64, on the current queue. Throws when there have been
  // as many as there may be.
  void read(const at::Tensor& value, std::function<void(double)> then);
  // Hands out what was read; the device must be through with the step.
  void deliver();

 private:
  struct Read {
    at::Tensor host;
    std::function<void(double)> then;
  };
  at::Tensor host_;  // eight bytes for each
  std::vector<Read> reads_;
};

}  // namespace shardlab

// For operators of ATen that return a tensor of their own where a tensor is handed in to be written: its
// memory is given up before the call and the result's memory taken over after it, so that nothing is copied
// and the two never exist together. A caching allocator hands the block that was given up straight to the
// result.
//
// It is the storage that changes its memory, not the tensor: whoever else holds a tensor on the storage sees
// the result. The block stays booked under the class of the one before. Streams recorded for the old memory
// are forgotten with it: record them after the operator has run.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "engine/plan/buffer.h"

namespace shardlab {

class MemoryExchange {
 public:
  // Gives the tensor's memory up, unless it is undefined or shares its storage with something else.
  explicit MemoryExchange(const at::Tensor& tensor);

  // Makes `made`, which nobody else uses, the contents of the tensor, if that is defined: without a copy if
  // its memory was given up and `made` fills a storage of the same size in the same order.
  void take(const at::Tensor& made);

 private:
  at::Tensor tensor_;
  bool given_up_ = false;
  std::optional<BufferClass> booked_;
};

}  // namespace shardlab

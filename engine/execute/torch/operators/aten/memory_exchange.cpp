#include "engine/execute/torch/operators/aten/memory_exchange.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

#include "engine/execute/torch/memory/memory_ledger.h"

namespace shardlab {
namespace {

bool fills_its_storage(const at::Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage_offset() == 0 &&
         tensor.storage().nbytes() == tensor.nbytes();
}

c10::StorageImpl& storage_of(const at::Tensor& tensor) {
  return *tensor.storage().unsafeGetStorageImpl();
}

}  // namespace

MemoryExchange::MemoryExchange(const at::Tensor& tensor) : tensor_(tensor) {
  if (!tensor.defined() || !fills_its_storage(tensor)) return;
  booked_ = booked_class(tensor);
  given_up_ = true;
  storage_of(tensor).set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
}

void MemoryExchange::take(const at::Tensor& made) {
  if (!tensor_.defined()) return;
  const bool same_bytes = made.nbytes() == tensor_.nbytes() && made.scalar_type() == tensor_.scalar_type();
  if (given_up_ && same_bytes && fills_its_storage(made)) {
    storage_of(tensor_).set_data_ptr_noswap(
        storage_of(made).set_data_ptr(c10::DataPtr(nullptr, made.device())));
  } else {
    if (given_up_) {
      c10::Allocator* allocator = c10::GetAllocator(tensor_.device().type());
      storage_of(tensor_).set_data_ptr_noswap(allocator->allocate(tensor_.nbytes()));
    }
    tensor_.copy_(made.reshape(tensor_.sizes()));
  }
  if (booked_) reclassify(tensor_, *booked_);
}

}  // namespace shardlab

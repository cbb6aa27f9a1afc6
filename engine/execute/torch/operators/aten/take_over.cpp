#include "engine/execute/torch/operators/aten/take_over.h"

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

namespace shardlab {
namespace {

bool fills_its_storage(const at::Tensor& tensor) {
  return tensor.is_contiguous() && tensor.storage_offset() == 0 &&
         tensor.storage().nbytes() == tensor.nbytes();
}

bool has_memory(const at::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl()->data_ptr().get() != nullptr;
}

}  // namespace

void give_up_memory(const at::Tensor& tensor) {
  if (!tensor.defined() || !fills_its_storage(tensor)) return;
  tensor.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
}

void take_over(const at::Tensor& tensor, at::Tensor made) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  if (has_memory(tensor)) {
    tensor.copy_(made.reshape(tensor.sizes()));
    return;
  }
  const bool fits = fills_its_storage(made) && made.nbytes() == tensor.nbytes() &&
                    made.scalar_type() == tensor.scalar_type();
  if (fits) {
    storage->set_data_ptr_noswap(
        made.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr(nullptr, made.device())));
    return;
  }
  storage->set_data_ptr_noswap(c10::GetAllocator(tensor.device().type())->allocate(storage->nbytes()));
  tensor.copy_(made.reshape(tensor.sizes()));
}

}  // namespace shardlab

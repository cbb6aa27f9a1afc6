#include "engine/execute/torch/buffer_table.h"

#include <ATen/ops/empty.h>

#include <fmt/format.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/torch_dtype.h"

namespace shardlab {
namespace {

bool same_storage(const Buffer& a, const Buffer& b) {
  return a.dtype == b.dtype && a.elements == b.elements && a.layout == b.layout &&
         a.parameters == b.parameters && a.shards == b.shards && a.alignment == b.alignment &&
         a.buffer_class == b.buffer_class && a.space == b.space;
}

}  // namespace

Result<Slot> BufferTable::slot_of(const Buffer& buffer) {
  if (buffer.space != MemorySpace::device) {
    return not_possible(buffer.name, fmt::format("a buffer in {} memory", to_string(buffer.space)),
                        "not supported yet");
  }
  const auto known = by_name_.find(buffer.name);
  if (known != by_name_.end()) {
    if (same_storage(entries_[known->second].buffer, buffer)) return known->second;
    return internal_error(buffer.name, "two plans of the run have different buffers of this name");
  }
  const auto slot = static_cast<Slot>(entries_.size());
  Shape sizes = buffer.tensor ? graph_.tensor(*buffer.tensor).shape : Shape{buffer.elements};
  entries_.push_back({buffer, std::move(sizes), {}, {}});
  by_name_.emplace(buffer.name, slot);
  return slot;
}

std::optional<Slot> BufferTable::find(BufferRole role) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].buffer.role == role) return static_cast<Slot>(i);
  }
  return std::nullopt;
}

void BufferTable::allocate(Slot slot) {
  Entry& entry = entries_[slot];
  const BufferClassScope booked(entry.buffer.buffer_class);
  entry.tensor = at::empty(entry.sizes, at::TensorOptions(to_torch(entry.buffer.dtype)).device(device_));
}

void BufferTable::release(Slot slot) {
  Entry& entry = entries_[slot];
  if (entry.tensor.defined()) release_storage(entry.tensor);
  entry.bundle.clear();
}

void release_storage(at::Tensor& tensor) {
  const c10::Device device = tensor.device();
  tensor.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(c10::DataPtr(nullptr, device));
  tensor.reset();
}

}  // namespace shardlab

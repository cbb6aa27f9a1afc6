#include "engine/execute/torch/buffer_table.h"

#include <algorithm>

#include <ATen/ops/empty.h>

#include <fmt/format.h>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/torch_dtype.h"
#include "engine/plan/layout.h"

namespace shardlab {
namespace {

bool same_storage(const Buffer& a, const Buffer& b) {
  return a.dtype == b.dtype && a.elements == b.elements && a.layout == b.layout &&
         a.parameters == b.parameters && a.shards == b.shards && a.alignment == b.alignment &&
         a.end_alignment == b.end_alignment && a.first == b.first && a.buffer_class == b.buffer_class &&
         a.space == b.space;
}

std::vector<std::int64_t> begins_of_parts(const ModelGraph& graph, const Buffer& buffer) {
  if (buffer.layout != BufferLayout::separate_parameters) return {0};
  std::vector<std::int64_t> begins;
  for (const ParameterPiece& piece : make_layout(graph, buffer).pieces) begins.push_back(piece.offset);
  return begins;
}

}  // namespace

Result<Slot> BufferTable::slot_of(const Buffer& buffer) {
  if (buffer.space != MemorySpace::device && !(is_host(buffer.space) && device_.is_cpu())) {
    return not_possible(
        buffer.name, fmt::format("not run yet: a buffer in {} memory beside a GPU", to_string(buffer.space)),
        "simulate it, or run it on CPU ranks");
  }
  const auto known = by_name_.find(buffer.name);
  if (known != by_name_.end()) {
    if (same_storage(entries_[known->second].buffer, buffer)) return known->second;
    return internal_error(buffer.name, "two plans of the run have different buffers of this name");
  }
  const auto slot = static_cast<Slot>(entries_.size());
  Shape sizes = buffer.tensor ? graph_.tensor(*buffer.tensor).shape : Shape{buffer.elements};
  std::vector<std::int64_t> begins = begins_of_parts(graph_, buffer);
  std::vector<at::Tensor> parts(begins.size());
  entries_.push_back({buffer, std::move(sizes), std::move(begins), std::move(parts), {}});
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
  for (std::size_t part = 0; part < entries_[slot].parts.size(); ++part) allocate_part(slot, part);
}

void BufferTable::allocate_part(Slot slot, std::size_t part) {
  Entry& entry = entries_[slot];
  const BufferClassScope booked(entry.buffer.buffer_class);
  const MemorySpaceScope in(entry.buffer.space);
  const at::TensorOptions options = at::TensorOptions(to_torch(entry.buffer.dtype)).device(device_);
  if (entry.parts.size() == 1) {
    entry.parts.front() = at::empty(entry.sizes, options);
    return;
  }
  const std::int64_t end = part + 1 < entry.begins.size() ? entry.begins[part + 1] : entry.buffer.elements;
  entry.parts[part] = at::empty({end - entry.begins[part]}, options);
}

void BufferTable::poison(Slot slot) const {
  for (const at::Tensor& part : entries_[slot].parts) poison(part);
}

// Every byte 0xFF, which is NaN in all floating-point types.
void BufferTable::poison(const at::Tensor& fresh) const {
  if (!poisons_ || !fresh.defined() || fresh.numel() == 0) return;
  const at::Tensor bytes = at::empty({0}, fresh.options().dtype(at::kByte));
  bytes.set_(fresh.storage(), 0, {static_cast<std::int64_t>(fresh.nbytes())}).fill_(0xFF);
}

void BufferTable::release(Slot slot) {
  Entry& entry = entries_[slot];
  for (at::Tensor& part : entry.parts) {
    if (part.defined()) release_storage(part);
  }
  entry.bundle.clear();
}

bool BufferTable::is_alive(Slot slot) const {
  const Entry& entry = entries_[slot];
  return !entry.bundle.empty() || std::any_of(entry.parts.begin(), entry.parts.end(),
                                              [](const at::Tensor& part) { return part.defined(); });
}

at::Tensor BufferTable::range(Slot slot, std::int64_t first, std::int64_t count) const {
  const Entry& entry = entries_[slot];
  const auto next = std::upper_bound(entry.begins.begin(), entry.begins.end(), first);
  const auto part = static_cast<std::size_t>(next - entry.begins.begin()) - 1;
  return entry.parts[part].view({-1}).narrow(0, first - entry.begins[part], count);
}

void release_storage(at::Tensor& tensor) {
  const c10::Device device = tensor.device();
  tensor.storage().unsafeGetStorageImpl()->set_data_ptr_noswap(c10::DataPtr(nullptr, device));
  tensor.reset();
}

}  // namespace shardlab

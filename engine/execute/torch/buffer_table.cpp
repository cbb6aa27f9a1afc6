#include "engine/execute/torch/buffer_table.h"

#include <algorithm>
#include <stdexcept>

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
         a.space == b.space && a.within.has_value() == b.within.has_value() &&
         (!a.within || a.within->first == b.within->first);
}

std::vector<std::int64_t> begins_of_parts(const ModelGraph& graph, const Buffer& buffer) {
  if (buffer.layout != BufferLayout::separate_parameters) return {0};
  std::vector<std::int64_t> begins;
  for (const ParameterPiece& piece : make_layout(graph, buffer).pieces) begins.push_back(piece.offset);
  return begins;
}

}  // namespace

Result<Slot> BufferTable::slot_of(const Buffer& buffer, std::optional<Slot> pool) {
  if (buffer.space != MemorySpace::device && !device_.is_cpu()) {
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
  entries_.push_back({buffer, std::move(sizes), std::move(begins), std::move(parts), {}, pool});
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
  if (entry.buffer.space == MemorySpace::disk) return make_file(entry);
  if (entry.pool) {
    const at::Tensor elements = entries_[*entry.pool].parts.front().view({-1});
    entry.parts.front() = elements.narrow(0, entry.buffer.within->first, entry.buffer.elements);
    return;
  }
  if (entry.buffer.role == BufferRole::staging) {
    entry.parts.front() = at_page(entry.buffer.elements, to_torch(entry.buffer.dtype));
    return register_pool(entry.parts.front());
  }
  const at::TensorOptions options = at::TensorOptions(to_torch(entry.buffer.dtype)).device(device_);
  if (entry.parts.size() == 1) {
    entry.parts.front() = at::empty(entry.sizes, options);
    return;
  }
  const std::int64_t end = part + 1 < entry.begins.size() ? entry.begins[part + 1] : entry.buffer.elements;
  entry.parts[part] = at::empty({end - entry.begins[part]}, options);
}

void BufferTable::make_file(Entry& entry) {
  if (!drive_) throw std::logic_error(entry.buffer.name + " lies on a drive, and none was opened");
  or_throw(drive_->create(entry.buffer.name, entry.buffer.bytes()));
  entry.file = std::make_shared<const BookedFile>(entry.buffer.bytes());
}

void BufferTable::register_pool(const at::Tensor& pool) const {
  if (drive_) or_throw(drive_->register_memory(bytes_of_tensor(pool)));
}

at::Tensor BufferTable::read_file(Slot slot) const {
  const Buffer& buffer = entries_[slot].buffer;
  at::Tensor contents = at::empty({buffer.elements}, to_torch(buffer.dtype));
  or_throw(drive_->read(buffer.name, bytes_of_tensor(contents))->wait());
  return contents;
}

void BufferTable::poison(Slot slot) const {
  for (const at::Tensor& part : entries_[slot].parts) poison(part);
}

// Every byte 0xFF, which is NaN in all floating-point types.
void BufferTable::poison(const at::Tensor& fresh) const {
  if (!poisons_ || !fresh.defined() || fresh.numel() == 0) return;
  const at::Tensor bytes = at::empty({0}, fresh.options().dtype(at::kByte));
  const auto first = fresh.storage_offset() * static_cast<std::int64_t>(fresh.element_size());
  bytes.set_(fresh.storage(), first, {static_cast<std::int64_t>(fresh.nbytes())}).fill_(0xFF);
}

void BufferTable::release(Slot slot) {
  Entry& entry = entries_[slot];
  entry.file.reset();
  if (entry.pool) entry.parts.front().reset();  // the memory is the pool's
  for (at::Tensor& part : entry.parts) {
    if (part.defined()) release_storage(part);
  }
  entry.bundle.clear();
}

bool BufferTable::is_alive(Slot slot) const {
  const Entry& entry = entries_[slot];
  return entry.file || !entry.bundle.empty() ||
         std::any_of(entry.parts.begin(), entry.parts.end(),
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

// The buffers of a run as tensors.
//
// Plans name their buffers; the same name in two plans of a run is the same storage, so each name gets one
// slot for the whole run. A buffer is alive between allocate (or adopt) and release, which gives its memory
// back whoever else still holds the tensor: what the plan freed is free. Its storage is one, or one for each
// of its parameters where they are separate; elements are counted over all of them. On a CPU
// buffers in host memory are storages like the device's, booked in their own space. A pool for a drive begins
// at a page; buffers inside a pool are views of it. Buffers on a drive are files: they have no tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/swap/swap_drive.h"
#include "engine/execute/torch/memory/drive_memory.h"
#include "engine/model/model_graph.h"
#include "engine/plan/buffer.h"

namespace shardlab {

using Slot = std::uint32_t;
inline constexpr Slot k_no_slot = 0xffffffffU;

class BufferTable {
 public:
  BufferTable(const ModelGraph& graph, c10::Device device) : graph_(graph), device_(device) {}

  // The slot of a buffer, made at first mention; `pool` is that of the buffer it lies in, if it lies in one.
  // Fails when an earlier plan had another buffer of the same name.
  Result<Slot> slot_of(const Buffer& buffer, std::optional<Slot> pool = {});
  // Where buffers on a drive lie, for the first of them to be allocated.
  void put_files_on(std::shared_ptr<SwapDrive> drive) { drive_ = std::move(drive); }
  // The first buffer in this role that has a slot.
  std::optional<Slot> find(BufferRole role) const;

  // Contents are undefined. Booked in the buffer's class. The shape is that of its tensor, else flat.
  void allocate(Slot slot);
  // One storage of several.
  void allocate_part(Slot slot, std::size_t part);
  void release(Slot slot);
  // A test switch: poison(), and whoever allocates within a segment, fills with NaN what has just been
  // allocated. Off, both do nothing.
  void poison_what_is_allocated(bool on) { poisons_ = on; }
  void poison(Slot slot) const;
  void poison(const at::Tensor& fresh) const;
  bool is_alive(Slot slot) const;

  // The tensor of a buffer with one storage.
  const at::Tensor& tensor(Slot slot) const { return entries_[slot].parts.front(); }
  // All its storages; some may be undefined.
  const std::vector<at::Tensor>& parts(Slot slot) const { return entries_[slot].parts; }
  // Elements [first, first + count), which lie in one storage, as a vector.
  at::Tensor range(Slot slot, std::int64_t first, std::int64_t count) const;
  // What the file of a buffer on a drive holds, in a tensor of its own; waits. May throw.
  at::Tensor read_file(Slot slot) const;
  // Takes the tensor out: the caller frees it by dropping it.
  at::Tensor take(Slot slot) { return std::exchange(entries_[slot].parts.front(), at::Tensor()); }
  // What a segment's forward keeps, one tensor each.
  std::vector<at::Tensor>& bundle(Slot slot) { return entries_[slot].bundle; }
  c10::Device device() const { return device_; }
  const Buffer& buffer(Slot slot) const { return entries_[slot].buffer; }

 private:
  struct Entry {
    Buffer buffer;
    Shape sizes;                       // of the one storage
    std::vector<std::int64_t> begins;  // of each storage, in elements
    std::vector<at::Tensor> parts;     // the storages
    std::vector<at::Tensor> bundle;
    std::optional<Slot> pool;                  // that it lies in
    std::shared_ptr<const BookedFile> file{};  // of a buffer on a drive, while it is alive
  };
  void make_file(Entry& entry);
  void register_pool(const at::Tensor& pool) const;

  const ModelGraph& graph_;
  c10::Device device_;
  bool poisons_ = false;
  std::vector<Entry> entries_;
  std::map<std::string, Slot, std::less<>> by_name_;
  std::shared_ptr<SwapDrive> drive_;  // last: it lets go of the pool before that ends
};

// Gives the storage of a tensor back although others may still refer to it; a later use of it is a defect.
void release_storage(at::Tensor& tensor);

}  // namespace shardlab

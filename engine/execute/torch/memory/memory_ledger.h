// Measured memory on a CPU: every allocation that goes through libtorch's CPU allocator is counted, by class
// of buffer.
//
// install_counting_allocator() puts a thin layer over libtorch's own allocator: a 64-byte header in front of
// each block holds its size, its class, its memory space and the ledger it is booked in. A block is booked in
// the ledger, in the space and under the class current on the allocating thread, and is taken off that same
// ledger whichever thread frees it. So ranks that are threads of one process each have a ledger.
//
// Counted are the bytes asked for (at::empty of n float32 counts 4 n), not headers, padding or what the heap
// keeps. Not seen are buffers that libraries allocate for themselves (oneDNN, MKL, Gloo, std::vector). What
// is given back is off the ledger at once; the pages of large blocks wait in a BlockCache for the next
// allocation of their size.
//
// Typical use of an executor:
//
//   install_counting_allocator();                      // once, before the first tensor
//   MemoryLedger ledger;
//   LedgerScope counted(ledger);                       // this thread is this rank
//   { BufferClassScope scope(BufferClass::gradient); gradient = at::empty(...); }
//   ... operator calls outside any BufferClassScope are booked as workspace ...
//   ledger.reset_peak(); run(instruction); sample(ledger.live(), ledger.peak());
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/units.h"
#include "engine/plan/buffer.h"

namespace shardlab {

struct MemoryReading {
  Bytes total;                                     // of the device
  std::array<Bytes, k_buffer_classes> by_class{};  // by BufferClass, of the device
  std::array<Bytes, k_memory_spaces> elsewhere{};  // by MemorySpace; the device's entry stays zero

  Bytes of(BufferClass buffer_class) const { return by_class[static_cast<std::size_t>(buffer_class)]; }
};

// Thread-safe. Blocks may outlive it: they keep what they are booked in alive.
class MemoryLedger {
 public:
  MemoryLedger();
  MemoryReading live() const;
  // The moment of the highest total since construction or reset_peak: that total, and what it was made of; of
  // every other space its own highest.
  MemoryReading peak() const;
  // From now on the peak is measured from the bytes live now.
  void reset_peak();
  // An allocation on the device that would bring the total above it throws c10::OutOfMemoryError. Blocks of
  // other allocators (book_block) are not refused: those have limits of their own.
  void set_limit(Bytes limit);
  // Blocks allocated since construction.
  std::int64_t allocations() const;

  struct Book;  // private to memory_ledger.cpp

 private:
  friend class LedgerScope;
  std::shared_ptr<Book> book_;
};

// While it lives, allocations of this thread are booked in the ledger. Scopes nest. Outside any scope nothing
// is booked.
class LedgerScope {
 public:
  explicit LedgerScope(const MemoryLedger& ledger);
  ~LedgerScope();
  LedgerScope(const LedgerScope&) = delete;
  LedgerScope& operator=(const LedgerScope&) = delete;

 private:
  std::shared_ptr<MemoryLedger::Book> previous_;
};

// While it lives, allocations of this thread are booked under the class. Scopes nest. Outside any scope:
// workspace.
class BufferClassScope {
 public:
  explicit BufferClassScope(BufferClass buffer_class);
  ~BufferClassScope();
  BufferClassScope(const BufferClassScope&) = delete;
  BufferClassScope& operator=(const BufferClassScope&) = delete;

 private:
  BufferClass previous_;
};

// While it lives, allocations of this thread are booked in this space. Scopes nest. Outside any scope: the
// device, which on a CPU is this allocator's own memory.
class MemorySpaceScope {
 public:
  explicit MemorySpaceScope(MemorySpace space);
  ~MemorySpaceScope();
  MemorySpaceScope(const MemorySpaceScope&) = delete;
  MemorySpaceScope& operator=(const MemorySpaceScope&) = delete;

 private:
  MemorySpace previous_;
};

// Puts the counting layer, with its BlockCache, over libtorch's CPU allocator. Idempotent. Call it in main
// before other threads use tensors; tensors made earlier stay valid and uncounted.
void install_counting_allocator();

// Blocks of another allocator, by address: booked in the ledger and under the class current on this thread.
// Not booked outside a LedgerScope. unbook_block() of an unknown address does nothing. Thread-safe; allocates
// no tensor.
void book_block(std::uintptr_t address, Bytes bytes);
void unbook_block(std::uintptr_t address);

// Books the block that holds the tensor's storage under another class (the logits that became their own
// gradient). False when the block is not counted: allocated before the layer was installed or outside a
// LedgerScope, or memory that is neither libtorch's nor booked by address.
bool reclassify(const at::Tensor& tensor, BufferClass buffer_class);
// The class it is booked under; none when the block is not counted.
std::optional<BufferClass> booked_class(const at::Tensor& tensor);

// For the test that freed means freed: while on, every counted block is filled with 0xFF bytes (NaN in each
// floating-point type) before it is given back, so that a late read of it spoils the result. Process-wide,
// off at start.
void poison_freed_memory(bool on);

}  // namespace shardlab

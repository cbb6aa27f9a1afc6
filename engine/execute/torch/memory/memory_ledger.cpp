#include "engine/execute/torch/memory/memory_ledger.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "engine/execute/torch/memory/block_cache.h"

namespace shardlab {
namespace {

// How a block is booked.
struct Booked {
  Bytes bytes;
  BufferClass buffer_class = BufferClass::workspace;
  MemorySpace space = MemorySpace::device;

  bool on_device() const { return space == MemorySpace::device; }
};

// Classes are those of the device's memory.
void change(MemoryReading& reading, const Booked& block, Bytes bytes) {
  if (!block.on_device()) {
    reading.elsewhere[static_cast<std::size_t>(block.space)] += bytes;
    return;
  }
  reading.total += bytes;
  reading.by_class[static_cast<std::size_t>(block.buffer_class)] += bytes;
}

}  // namespace

struct MemoryLedger::Book {
  mutable std::mutex mutex;
  MemoryReading live;
  MemoryReading peak;
  std::int64_t allocations = 0;
  std::optional<Bytes> limit;

  void check_limit(Bytes bytes) const {
    const std::lock_guard lock(mutex);
    if (!limit || live.total + bytes <= *limit) return;
    TORCH_CHECK_WITH(OutOfMemoryError, false, "tried to allocate ", to_string(bytes), " with ",
                     to_string(live.total), " in use of ", to_string(*limit));
  }
  void add(const Booked& block) {
    const std::lock_guard lock(mutex);
    change(live, block, block.bytes);
    ++allocations;
    if (live.total > peak.total) {
      peak.total = live.total;
      peak.by_class = live.by_class;
    }
    for (std::size_t i = 0; i < live.elsewhere.size(); ++i)
      peak.elsewhere[i] = std::max(peak.elsewhere[i], live.elsewhere[i]);
  }
  void remove(const Booked& block) {
    const std::lock_guard lock(mutex);
    change(live, block, block.bytes * -1);
  }
  void move(const Booked& block, BufferClass to) {
    const std::lock_guard lock(mutex);
    change(live, block, block.bytes * -1);
    change(live, {block.bytes, to, block.space}, block.bytes);
  }
};

namespace {

using Book = MemoryLedger::Book;

thread_local std::shared_ptr<Book> current_book;
thread_local BufferClass current_class = BufferClass::workspace;
thread_local MemorySpace current_space = MemorySpace::device;

Booked booked_here(std::size_t bytes) {
  return {{static_cast<std::int64_t>(bytes)}, current_class, current_space};
}

// In front of each block. libtorch wants blocks aligned to 64 bytes, so the header is as long.
struct alignas(64) Header {
  std::size_t bytes;
  Booked booked;
  std::shared_ptr<Book> book;  // null: not counted
};
static_assert(sizeof(Header) == 64);

Header* header_of(void* data) {
  return std::launder(reinterpret_cast<Header*>(static_cast<char*>(data) - sizeof(Header)));
}

std::atomic<bool>& poison() {
  static std::atomic<bool> on{false};
  return on;
}

// The blocks of allocators that leave no room for a header in them.
struct ForeignBlocks {
  struct Block {
    Booked booked;
    std::shared_ptr<Book> book;
  };
  std::mutex mutex;
  std::unordered_map<std::uintptr_t, Block> known;
};

ForeignBlocks& foreign_blocks() {
  // Never destroyed: blocks may be freed by destructors of static objects.
  static auto* blocks = new ForeignBlocks();
  return *blocks;
}

class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& inner) : blocks_(inner) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    // libtorch's own allocator gives a null pointer for nothing.
    if (bytes == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
    const Booked booked = booked_here(bytes);
    if (current_book && booked.on_device()) current_book->check_limit(booked.bytes);
    auto* header = new (blocks_.take(bytes + sizeof(Header))) Header{bytes, booked, current_book};
    if (header->book) header->book->add(booked);
    void* data = header + 1;
    return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  static CountingAllocator& instance() {
    // Never destroyed: blocks may be freed by destructors of static objects.
    static auto* allocator = new CountingAllocator(*c10::GetDefaultCPUAllocator());
    return *allocator;
  }
  static void release(void* data) {
    if (!data) return;
    Header* header = header_of(data);
    if (header->book) {
      header->book->remove(header->booked);
      if (poison().load(std::memory_order_relaxed)) std::memset(data, 0xFF, header->bytes);
    }
    const std::size_t bytes = header->bytes + sizeof(Header);
    header->~Header();
    instance().blocks_.give_back(header, bytes);
  }

 private:
  BlockCache blocks_;
};

}  // namespace

MemoryLedger::MemoryLedger() : book_(std::make_shared<Book>()) {}

MemoryReading MemoryLedger::live() const {
  const std::lock_guard lock(book_->mutex);
  return book_->live;
}

MemoryReading MemoryLedger::peak() const {
  const std::lock_guard lock(book_->mutex);
  return book_->peak;
}

void MemoryLedger::reset_peak() {
  const std::lock_guard lock(book_->mutex);
  book_->peak = book_->live;
}

void MemoryLedger::set_limit(Bytes limit) {
  const std::lock_guard lock(book_->mutex);
  book_->limit = limit;
}

std::int64_t MemoryLedger::allocations() const {
  const std::lock_guard lock(book_->mutex);
  return book_->allocations;
}

LedgerScope::LedgerScope(const MemoryLedger& ledger) : previous_(std::exchange(current_book, ledger.book_)) {}
LedgerScope::~LedgerScope() {
  current_book = std::move(previous_);
}

BufferClassScope::BufferClassScope(BufferClass buffer_class)
    : previous_(std::exchange(current_class, buffer_class)) {}
BufferClassScope::~BufferClassScope() {
  current_class = previous_;
}

MemorySpaceScope::MemorySpaceScope(MemorySpace space) : previous_(std::exchange(current_space, space)) {}
MemorySpaceScope::~MemorySpaceScope() {
  current_space = previous_;
}

void install_counting_allocator() {
  c10::SetCPUAllocator(&CountingAllocator::instance(), 1);
}

void book_block(std::uintptr_t address, Bytes bytes) {
  if (!current_book) return;
  const Booked booked{bytes, current_class, current_space};
  current_book->add(booked);
  ForeignBlocks& blocks = foreign_blocks();
  const std::lock_guard lock(blocks.mutex);
  blocks.known[address] = {booked, current_book};
}

void unbook_block(std::uintptr_t address) {
  ForeignBlocks& blocks = foreign_blocks();
  const std::lock_guard lock(blocks.mutex);
  const auto found = blocks.known.find(address);
  if (found == blocks.known.end()) return;
  found->second.book->remove(found->second.booked);
  blocks.known.erase(found);
}

namespace {

// Calls function(how it is booked, book) for the block that holds the tensor's storage. False when it is
// not counted.
template <typename F>
bool with_block(const at::Tensor& tensor, F&& function) {
  const c10::DataPtr& pointer = tensor.storage().data_ptr();
  if (!pointer.get()) return false;
  if (pointer.get_deleter() == &CountingAllocator::release) {
    Header* header = header_of(pointer.get_context());
    if (header->book) function(header->booked, *header->book);
    return header->book != nullptr;
  }
  ForeignBlocks& blocks = foreign_blocks();
  const std::lock_guard lock(blocks.mutex);
  const auto found = blocks.known.find(reinterpret_cast<std::uintptr_t>(pointer.get()));
  if (found == blocks.known.end()) return false;
  function(found->second.booked, *found->second.book);
  return true;
}

}  // namespace

bool reclassify(const at::Tensor& tensor, BufferClass buffer_class) {
  return with_block(tensor, [&](Booked& booked, Book& book) {
    book.move(booked, buffer_class);
    booked.buffer_class = buffer_class;
  });
}

std::optional<BufferClass> booked_class(const at::Tensor& tensor) {
  std::optional<BufferClass> found;
  with_block(tensor, [&](const Booked& booked, const Book&) { found = booked.buffer_class; });
  return found;
}

void poison_freed_memory(bool on) {
  poison().store(on);
}

}  // namespace shardlab

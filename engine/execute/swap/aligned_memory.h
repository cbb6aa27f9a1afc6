// Memory that begins at a page, as O_DIRECT wants it, and the arithmetic of pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace shardlab {

// Bytes of a page, and of what drives write at once: transfers begin and end at multiples of it.
inline constexpr std::int64_t k_swap_page = 4096;

constexpr std::int64_t whole_pages(std::int64_t bytes) {
  return (bytes + k_swap_page - 1) / k_swap_page * k_swap_page;
}

inline bool is_page_aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uintptr_t>(k_swap_page) == 0;
}

// What memory passes through that is not aligned itself. It grows when more is asked for; its content is
// then lost.
class AlignedMemory {
 public:
  // Room for that many bytes, or null where the machine has none left.
  std::byte* room_for(std::int64_t bytes) {
    if (bytes <= bytes_) return memory_.get();
    bytes_ = 0;
    memory_.reset(
        static_cast<std::byte*>(::operator new(static_cast<std::size_t>(bytes), k_alignment, std::nothrow)));
    if (memory_) bytes_ = bytes;
    return memory_.get();
  }

 private:
  static constexpr std::align_val_t k_alignment{static_cast<std::size_t>(k_swap_page)};
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, k_alignment); }
  };

  std::unique_ptr<std::byte, Release> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace shardlab

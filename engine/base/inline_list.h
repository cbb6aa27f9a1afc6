// A short list that needs no heap allocation until it outgrows its inline room.
//
// For values made by the thousand with a handful of elements each (operands of program steps). Grows like a
// vector, never shrinks.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace shardlab {

template <typename T, std::uint32_t N>
class InlineList {
 public:
  InlineList() = default;
  InlineList(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  void push_back(T value) {
    if (size_ < N) {
      inline_[size_++] = value;
      return;
    }
    if (size_ == N) spilled_.assign(inline_.begin(), inline_.end());
    spilled_.push_back(value);
    ++size_;
  }

  const T* begin() const { return size_ > N ? spilled_.data() : inline_.data(); }
  const T* end() const { return begin() + size_; }
  T* begin() { return size_ > N ? spilled_.data() : inline_.data(); }
  T* end() { return begin() + size_; }
  const T* data() const { return begin(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t index) const { return begin()[index]; }
  T& operator[](std::size_t index) { return begin()[index]; }
  const T& front() const { return *begin(); }
  const T& back() const { return *(end() - 1); }

 private:
  std::uint32_t size_ = 0;
  std::array<T, N> inline_{};
  std::vector<T> spilled_;
};

}  // namespace shardlab

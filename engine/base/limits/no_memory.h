// Memory that this process did not get, with what needed it.
//
// A std::bad_alloc says nothing. Where a lot of memory is taken for something that somebody can make smaller,
// the work is done by with_memory_for(): what leaves it says what it was about.
#pragma once

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace shardlab {

struct MemoryNeed {
  std::string work;  // "planning a step: 1,000 instructions so far"
  std::string hint;  // what makes it smaller
};

// Copies the texts into itself: it is thrown when there may be no memory for them elsewhere.
class NoMemory : public std::bad_alloc {
 public:
  static constexpr std::string_view k_missing = "no more memory";

  explicit NoMemory(const MemoryNeed& need)
      : what_(copied(std::string(k_missing) + " for " + need.work)), hint_(copied(need.hint)) {}

  const char* what() const noexcept override { return what_.data(); }
  const char* hint() const noexcept { return hint_.data(); }

 private:
  using Text = std::array<char, 192>;
  static Text copied(std::string_view text) noexcept {
    Text copy{};
    std::copy_n(text.data(), std::min(text.size(), copy.size() - 1), copy.data());
    return copy;
  }

  Text what_, hint_;
};

// What `work` returns. Where it gets no memory, NoMemory of need(), a MemoryNeed; of two around each other
// the inner one speaks.
template <typename Need, typename Work>
auto with_memory_for(Need&& need, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const NoMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw NoMemory(need());
  }
}

}  // namespace shardlab

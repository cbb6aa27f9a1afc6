// The memory that the ranks of one communicator share: a file of /dev/shm, which the first rank to come makes
// and the last one removes from the folder. Each rank maps it for itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stand_in {

constexpr int k_most_ranks = 8;
constexpr std::size_t k_chunk = std::size_t{128} << 10;  // bytes that a rank shows at once
constexpr std::size_t k_letter = std::size_t{16} << 10;  // bytes of a message that are under way at once

// What a rank is about to do: the same for all members.
struct Intent {
  int kind = 0;
  int element = 0;
  int reduction = 0;
  int root = 0;
  std::uint64_t count = 0;
  friend bool operator==(const Intent&, const Intent&) = default;
};

// A rank's own, which the others read.
struct Desk {
  std::atomic<std::uint64_t> arrived;  // meetings that it has come to
  Intent intent;
  std::array<std::byte, k_chunk> shown;
};

// From one rank to another, chunk by chunk.
struct Mailbox {
  std::atomic<std::uint64_t> sent, taken;
  std::uint64_t message_bytes;  // of the whole message
  std::array<std::byte, k_letter> letter;
};

struct Shared {
  std::atomic<int> ranks;     // as the first one says
  std::atomic<int> attached;  // that have come
  std::array<Desk, k_most_ranks> desks;
  std::array<std::array<Mailbox, k_most_ranks>, k_most_ranks> mail;  // [from][to]
};

// Maps the segment of this name. Null when it cannot be had.
Shared* open_segment(const std::string& name);
// The name is not needed any more: all have come.
void forget_segment(const std::string& name);

}  // namespace stand_in

#include "engine/doctor/log/allocator_message.h"

#include <algorithm>

#include "engine/base/text/log_numbers.h"

namespace shardlab {
namespace {

constexpr Bytes k_context = mebibytes(512);

std::optional<Bytes> first_of(std::optional<Bytes> a, std::optional<Bytes> b) {
  return a ? a : b;
}

// Sum over "Process 4711 has 20.10 GiB memory in use".
std::optional<Bytes> other_processes(std::string_view line) {
  constexpr std::string_view k_head = "Process ";
  constexpr std::string_view k_tail = " has ";
  std::optional<Bytes> sum;
  for (std::size_t at = line.find(k_head); at != std::string_view::npos; at = line.find(k_head, at + 1)) {
    const std::string_view rest = line.substr(at + k_head.size(), 64);
    const std::size_t tail = rest.find(k_tail);
    if (tail == std::string_view::npos || rest.find("memory in use") == std::string_view::npos) continue;
    if (const auto size = size_after(rest.substr(tail), k_tail))
      sum = std::min((sum ? *sum : Bytes{}) + *size, gibibytes(1 << 20));
  }
  return sum;
}

}  // namespace

std::optional<AllocatorMessage> read_allocator_message(std::string_view line) {
  AllocatorMessage message;
  message.asked = first_of(size_after(line, "Tried to allocate"), size_after(line, "tried to allocate"));
  message.capacity = first_of(size_before(line, "total capacity"), size_after(line, "total capacity of"));
  if (!message.capacity) message.capacity = size_after(line, "total capacty of");  // spelt so in 2.1
  if (!message.asked && !message.capacity) return std::nullopt;
  message.free = first_of(size_after(line, "of which"), size_before(line, "free"));
  message.allocated =
      first_of(size_before(line, "already allocated"), size_before(line, "is allocated by PyTorch"));
  message.reserved = first_of(size_before(line, "reserved in total"), size_before(line, "cached"));
  const auto idle = size_before(line, "is reserved by PyTorch but unallocated");
  if (!message.reserved && idle && message.allocated) message.reserved = *message.allocated + *idle;
  message.this_process = size_after(line, "this process has");
  message.others = other_processes(line);
  return message;
}

std::optional<Bytes> idle_reserve(const AllocatorMessage& message) {
  if (!message.reserved || !message.allocated) return std::nullopt;
  return std::max(Bytes{}, *message.reserved - *message.allocated);
}

std::optional<Bytes> held_by_others(const AllocatorMessage& message) {
  if (!message.capacity || !message.free) return std::nullopt;
  const Bytes used = *message.capacity - *message.free;
  if (message.this_process) return std::max(Bytes{}, used - *message.this_process);
  if (!message.reserved) return std::nullopt;
  return std::max(Bytes{}, used - *message.reserved - k_context);
}

}  // namespace shardlab

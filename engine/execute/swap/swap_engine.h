// What moves blocks between memory and files: io_uring or threads. One thread uses it, the mover's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace shardlab {

// One block. Where the file is open with O_DIRECT, memory, bytes and offset are multiples of a page.
struct SwapRequest {
  int slot = 0;  // comes back with the result; one request is under way in a slot
  bool is_write = false;
  int descriptor = -1;
  std::byte* memory = nullptr;  // only read where it is a write; must stay until the request is completed
  std::int64_t bytes = 0;
  std::int64_t offset = 0;
};

struct SwapCompletion {
  int slot = 0;
  std::int64_t result = 0;  // bytes that were moved, perhaps fewer than asked for, or -errno
};

class SwapEngine {
 public:
  SwapEngine() = default;
  SwapEngine(const SwapEngine&) = delete;
  SwapEngine& operator=(const SwapEngine&) = delete;
  // Nothing may be under way.
  virtual ~SwapEngine() = default;

  // Not more at once than the depth that the engine was made for. Failures are told as completions.
  virtual void start(const SwapRequest& request) noexcept = 0;
  // What was completed since the last call, valid until the next; hands everything that was started to the
  // kernel first. With `wait`, at least one, for which one must be under way.
  virtual std::span<const SwapCompletion> completed(bool wait) noexcept = 0;
  // Tells the kernel of memory that requests will use. Page-aligned, and it must stay mapped as long as the
  // engine is; nothing may be under way. Returns why the kernel does not take it, in which case requests work
  // as before.
  virtual std::optional<std::string> register_memory(std::span<std::byte> memory) = 0;
  // "io_uring", "2 threads".
  virtual std::string name() const = 0;
};

}  // namespace shardlab

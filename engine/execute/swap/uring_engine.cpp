#include "engine/execute/swap/uring_engine.h"

#if SHARDLAB_HAS_URING

#include <liburing.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace shardlab {
namespace {

constexpr std::size_t k_largest_registered = std::size_t{1} << 30;  // the kernel takes no more as one buffer
constexpr std::size_t k_most_registered = 1024;                     // as many as every kernel takes
constexpr auto k_pause_of_ring = std::chrono::milliseconds(1);
constexpr int k_refusals_of_ring = 2000;  // pauses, after which the kernel will not take requests any more

// The kernel's queues, from the moment that they were made.
class Ring {
 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    if (is_made_) ::io_uring_queue_exit(&ring_);
  }

  // Returns -errno or 0.
  int make(unsigned depth) {
    const int failed = ::io_uring_queue_init(depth, &ring_, 0);
    is_made_ = failed == 0;
    return failed;
  }
  io_uring* get() { return &ring_; }

 private:
  io_uring ring_{};
  bool is_made_ = false;
};

class UringEngine final : public SwapEngine {
 public:
  // Every list has room for the depth from the beginning, so that nothing is allocated while blocks move.
  explicit UringEngine(std::size_t depth) {
    unsubmitted_.reserve(depth);
    gathered_.reserve(depth);
    handed_out_.reserve(depth);
  }

  Status open(unsigned depth);
  void start(const SwapRequest& request) noexcept override;
  std::span<const SwapCompletion> completed(bool wait) noexcept override;
  std::optional<std::string> register_memory(std::span<std::byte> memory) override;
  std::string name() const override { return "io_uring"; }

 private:
  void submit() noexcept;
  void gather() noexcept;
  void wait_for_kernel() noexcept;
  int registered_buffer(const std::byte* memory, std::int64_t bytes) const;
  int tell_kernel(const std::vector<iovec>& buffers);

  Ring ring_;
  std::vector<int> unsubmitted_;  // slots whose requests the kernel has not taken yet, oldest first
  int in_kernel_ = 0;
  std::vector<SwapCompletion> gathered_, handed_out_;
  std::vector<iovec> registered_;  // sorted by address
  int refusals_ = 0;               // of the kernel to take requests, one after another
  int broken_ = 0;                 // -errno, once the kernel takes no requests any more
};

Status refuse_ring(int failed) {
  switch (-failed) {
    case ENOSYS: return not_possible("io_uring", "the kernel has none", "Linux 5.6 or newer has it");
    case EPERM:
    case EACCES:
      return not_possible("io_uring", "it is forbidden here",
                          "allow it (sysctl kernel.io_uring_disabled=0; in a container its seccomp profile)");
    case ENOMEM:
      return not_possible("io_uring", "no memory may be locked for it", "raise the limit (ulimit -l)");
    default: return not_possible("io_uring", std::strerror(-failed));
  }
}

Status UringEngine::open(unsigned depth) {
  if (const int failed = ring_.make(depth); failed != 0) return refuse_ring(failed);
  const std::unique_ptr<io_uring_probe, decltype(&::io_uring_free_probe)> probe(
      ::io_uring_get_probe_ring(ring_.get()), &::io_uring_free_probe);
  for (const int operation : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED}) {
    if (probe && ::io_uring_opcode_supported(probe.get(), operation) != 0) continue;
    return not_possible("io_uring", "the kernel's does not read and write files", "Linux 5.6 or newer does");
  }
  return {};
}

int UringEngine::registered_buffer(const std::byte* memory, std::int64_t bytes) const {
  const auto after =
      std::upper_bound(registered_.begin(), registered_.end(), memory,
                       [](const std::byte* begin, const iovec& buffer) { return begin < buffer.iov_base; });
  if (after == registered_.begin()) return -1;
  const auto found = std::prev(after);
  const std::int64_t before = memory - static_cast<std::byte*>(found->iov_base);
  if (before + bytes > static_cast<std::int64_t>(found->iov_len)) return -1;
  return static_cast<int>(found - registered_.begin());
}

void UringEngine::start(const SwapRequest& request) noexcept {
  io_uring_sqe* const entry = broken_ == 0 ? ::io_uring_get_sqe(ring_.get()) : nullptr;
  if (entry == nullptr) {
    gathered_.push_back({request.slot, broken_ == 0 ? -EBUSY : broken_});
    return;
  }
  const auto bytes = static_cast<unsigned>(request.bytes);
  const auto offset = static_cast<std::uint64_t>(request.offset);
  const int buffer = registered_buffer(request.memory, request.bytes);
  if (request.is_write && buffer >= 0) {
    ::io_uring_prep_write_fixed(entry, request.descriptor, request.memory, bytes, offset, buffer);
  } else if (request.is_write) {
    ::io_uring_prep_write(entry, request.descriptor, request.memory, bytes, offset);
  } else if (buffer >= 0) {
    ::io_uring_prep_read_fixed(entry, request.descriptor, request.memory, bytes, offset, buffer);
  } else {
    ::io_uring_prep_read(entry, request.descriptor, request.memory, bytes, offset);
  }
  ::io_uring_sqe_set_data64(entry, static_cast<std::uint64_t>(request.slot));
  unsubmitted_.push_back(request.slot);
}

void UringEngine::submit() noexcept {
  if (unsubmitted_.empty()) return;
  const int taken = ::io_uring_submit(ring_.get());
  if (taken > 0) {
    refusals_ = 0;
    in_kernel_ += taken;
    unsubmitted_.erase(unsubmitted_.begin(), unsubmitted_.begin() + taken);
    return;
  }
  // The kernel is short of memory or of room for completions, or a signal came: it takes them later.
  const bool may_pass = taken == 0 || taken == -EAGAIN || taken == -EBUSY || taken == -EINTR;
  if (may_pass && ++refusals_ < k_refusals_of_ring) {
    std::this_thread::sleep_for(k_pause_of_ring);
    return;
  }
  // Nothing is handed to the kernel from here on, so that the memory of these requests is free again.
  broken_ = taken == 0 ? -EIO : taken;
  for (const int slot : unsubmitted_) gathered_.push_back({slot, broken_});
  unsubmitted_.clear();
}

void UringEngine::gather() noexcept {
  io_uring_cqe* entry = nullptr;
  while (::io_uring_peek_cqe(ring_.get(), &entry) == 0 && entry != nullptr) {
    gathered_.push_back({static_cast<int>(::io_uring_cqe_get_data64(entry)), entry->res});
    ::io_uring_cqe_seen(ring_.get(), entry);
    --in_kernel_;
  }
}

void UringEngine::wait_for_kernel() noexcept {
  if (in_kernel_ == 0) return;
  io_uring_cqe* entry = nullptr;
  const int failed = ::io_uring_wait_cqe(ring_.get(), &entry);
  // The kernel still writes to the memory of what it has, so it is waited for, whatever it answers.
  if (failed != 0 && failed != -EINTR) std::this_thread::sleep_for(k_pause_of_ring);
}

std::span<const SwapCompletion> UringEngine::completed(bool wait) noexcept {
  for (;;) {
    submit();
    gather();
    if (!wait || !gathered_.empty() || (in_kernel_ == 0 && unsubmitted_.empty())) break;
    wait_for_kernel();
  }
  handed_out_.clear();
  std::swap(handed_out_, gathered_);
  return handed_out_;
}

int UringEngine::tell_kernel(const std::vector<iovec>& buffers) {
  if (!registered_.empty()) ::io_uring_unregister_buffers(ring_.get());
  registered_.clear();
  if (buffers.empty()) return 0;
  const int failed =
      ::io_uring_register_buffers(ring_.get(), buffers.data(), static_cast<unsigned>(buffers.size()));
  if (failed == 0) registered_ = buffers;
  return failed;
}

std::optional<std::string> UringEngine::register_memory(std::span<std::byte> memory) {
  const std::vector<iovec> known = registered_;
  std::vector<iovec> wanted = known;
  for (; !memory.empty(); memory = memory.subspan(std::min(memory.size(), k_largest_registered))) {
    const std::size_t bytes = std::min(memory.size(), k_largest_registered);
    if (registered_buffer(memory.data(), static_cast<std::int64_t>(bytes)) < 0)
      wanted.push_back({memory.data(), bytes});
  }
  if (wanted.size() == known.size()) return std::nullopt;
  if (wanted.size() > k_most_registered) return "it is too much for one ring";
  std::sort(wanted.begin(), wanted.end(),
            [](const iovec& a, const iovec& b) { return a.iov_base < b.iov_base; });
  const int failed = tell_kernel(wanted);
  if (failed == 0) return std::nullopt;
  tell_kernel(known);
  if (failed == -ENOMEM) return "no more memory may be locked (ulimit -l)";
  return std::strerror(-failed);
}

}  // namespace

Result<std::unique_ptr<SwapEngine>> open_uring_engine(int depth) {
  auto engine = std::make_unique<UringEngine>(static_cast<std::size_t>(depth));
  SHARDLAB_CHECK_OK(engine->open(static_cast<unsigned>(depth)));
  return engine;
}

}  // namespace shardlab

#else

namespace shardlab {

Result<std::unique_ptr<SwapEngine>> open_uring_engine(int) {
  return not_possible("io_uring", "this build has none", "build again where liburing is installed");
}

}  // namespace shardlab

#endif

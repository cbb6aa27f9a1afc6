#include "engine/execute/swap/thread_engine.h"

#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

namespace shardlab {
namespace {

// One call: whoever asked goes on with the rest.
std::int64_t move_block(const SwapRequest& request) {
  const auto bytes = static_cast<std::size_t>(request.bytes);
  const ssize_t moved = request.is_write ? ::pwrite(request.descriptor, request.memory, bytes, request.offset)
                                         : ::pread(request.descriptor, request.memory, bytes, request.offset);
  return moved < 0 ? -errno : moved;
}

}  // namespace

ThreadEngine::ThreadEngine(int threads, int depth) : requests_(static_cast<std::size_t>(depth)) {
  done_.reserve(requests_.size());
  taken_.reserve(requests_.size());
  threads_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  } catch (...) {
    stop();
    throw;
  }
}

ThreadEngine::~ThreadEngine() {
  stop();
}

void ThreadEngine::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  asked_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadEngine::start(const SwapRequest& request) noexcept {
  {
    const std::lock_guard lock(mutex_);
    requests_[(first_ + waiting_++) % requests_.size()] = request;
  }
  asked_.notify_one();
}

std::span<const SwapCompletion> ThreadEngine::completed(bool wait) noexcept {
  std::unique_lock lock(mutex_);
  if (wait) answered_.wait(lock, [this] { return !done_.empty(); });
  taken_.clear();
  std::swap(taken_, done_);
  return taken_;
}

std::optional<std::string> ThreadEngine::register_memory(std::span<std::byte>) {
  return "threads use memory as it is";
}

std::string ThreadEngine::name() const {
  return fmt::format("{} thread{}", threads_.size(), threads_.size() == 1 ? "" : "s");
}

void ThreadEngine::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return stopping_ || waiting_ > 0; });
    if (waiting_ == 0) return;
    const SwapRequest request = requests_[first_];
    first_ = (first_ + 1) % requests_.size();
    --waiting_;
    lock.unlock();
    const std::int64_t result = move_block(request);
    lock.lock();
    done_.push_back({request.slot, result});
    answered_.notify_one();
  }
}

}  // namespace shardlab

// Threads that read and write with pread and pwrite: where io_uring is missing or forbidden.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/execute/swap/swap_engine.h"

namespace shardlab {

class ThreadEngine final : public SwapEngine {
 public:
  // Throws std::system_error where the machine has no thread left.
  ThreadEngine(int threads, int depth);
  ~ThreadEngine() override;

  void start(const SwapRequest& request) noexcept override;
  std::span<const SwapCompletion> completed(bool wait) noexcept override;
  // Threads gain nothing by it.
  std::optional<std::string> register_memory(std::span<std::byte> memory) override;
  std::string name() const override;

 private:
  void work();
  void stop();

  std::mutex mutex_;
  std::condition_variable asked_, answered_;
  bool stopping_ = false;
  // Both have room for the depth from the beginning, so that nothing is allocated later.
  std::vector<SwapRequest> requests_;  // a ring: `waiting_` of them from `first_` on
  std::size_t first_ = 0, waiting_ = 0;
  std::vector<SwapCompletion> done_, taken_;
  std::vector<std::thread> threads_;
};

}  // namespace shardlab

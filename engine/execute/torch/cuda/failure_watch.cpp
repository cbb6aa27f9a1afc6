#include "engine/execute/torch/cuda/failure_watch.h"

#include <chrono>
#include <stdexcept>

namespace shardlab {

FailureWatch::FailureWatch() : thread_([this] { run(); }) {}

FailureWatch::~FailureWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void FailureWatch::add(Watched watched) {
  const std::lock_guard lock(mutex_);
  watched_.push_back(std::move(watched));
}

void FailureWatch::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw std::runtime_error(*failure_);
}

void FailureWatch::fail(const std::string& what) {
  std::vector<Watched> all;
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = what;
    all = watched_;
  }
  for (const Watched& watched : all) watched.abort();
}

void FailureWatch::run() {
  constexpr std::chrono::milliseconds k_period{100};
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, k_period);
    if (stop_ || failure_) continue;
    const std::vector<Watched> all = watched_;
    lock.unlock();
    for (const Watched& watched : all) {
      if (const auto broken = watched.poll()) fail(*broken);
    }
    lock.lock();
  }
}

}  // namespace shardlab

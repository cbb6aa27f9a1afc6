#include "engine/execute/watch/failure_watch.h"

#include <chrono>

#include "engine/execute/streams/device_failure.h"

namespace shardlab {

FailureWatch::FailureWatch() : thread_([this] { run(); }) {}

FailureWatch::~FailureWatch() {
  stop();
}

void FailureWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FailureWatch::add(Watched watched) {
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back(std::move(watched));
  }
  wake_.notify_all();
}

std::optional<std::string> FailureWatch::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void FailureWatch::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw DeviceFailure(*failure_);
}

void FailureWatch::fail(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = what;
  }
  wake_.notify_all();
}

void FailureWatch::run() {
  constexpr std::chrono::milliseconds k_period{100};
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (failure_ && aborted_ < watched_.size()) {
      const Watched next = watched_[aborted_++];
      const std::string reason = *failure_;
      lock.unlock();
      next.abort(reason);
      lock.lock();
      continue;
    }
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

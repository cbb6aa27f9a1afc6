// Shared values of ranks that are threads of a test, which can be made to answer no more.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "engine/execute/watch/shared_values.h"

namespace shardlab::test {

class ValuesInMemory : public SharedValues {
 public:
  Status set(const std::string& key, const std::string& value) override {
    std::unique_lock lock(mutex_);
    answer(lock);
    values_[key] = value;
    changed_.notify_all();
    return {};
  }
  Result<bool> has(const std::string& key) override {
    std::unique_lock lock(mutex_);
    answer(lock);
    return values_.contains(key);
  }
  Result<std::string> wait(const std::string& key, std::chrono::milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    answer(lock);
    if (!changed_.wait_for(lock, timeout, [&] { return values_.contains(key); }))
      return run_failed("values", "nobody set " + key);
    return values_[key];
  }

  // As when the machine of the rank that keeps them loses power: whoever asks hangs.
  void hang(bool on) {
    const std::lock_guard lock(mutex_);
    hangs_ = on;
    changed_.notify_all();
  }

 private:
  void answer(std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, [&] { return !hangs_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
  bool hangs_ = false;
};

}  // namespace shardlab::test

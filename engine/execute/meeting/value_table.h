// Small values under names, and waiting for them. Any number of threads may use it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace shardlab {

class ValueTable {
 public:
  void set(const std::string& key, std::string value);
  std::optional<std::string> get(const std::string& key) const;
  void append(const std::string& key, const std::string& more);
  // The sum with the number that stands there (no number: 0), which is then there as text.
  std::int64_t add(const std::string& key, std::int64_t number);
  // Writes `desired` where `expected` stands, or where nothing stands and nothing is expected. What stands
  // there afterwards; `expected` where nothing does.
  std::string compare_set(const std::string& key, const std::string& expected, const std::string& desired);
  bool erase(const std::string& key);
  bool has(const std::vector<std::string>& keys) const;
  std::size_t size() const;

  // Returns when all keys are there: true. False when the time is over before, or after close().
  bool wait(const std::vector<std::string>& keys, std::chrono::milliseconds timeout);
  // Nobody waits any more.
  void close();

 private:
  bool has_all(const std::vector<std::string>& keys) const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
  bool closed_ = false;
};

}  // namespace shardlab

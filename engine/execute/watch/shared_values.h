// Small values under names, seen by all ranks: what ranks tell each other outside of collectives. Any number
// of threads may use it. Any call may block for as long as the one who keeps the values does not answer.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/result.h"

namespace shardlab {

class SharedValues {
 public:
  SharedValues() = default;
  SharedValues(const SharedValues&) = default;
  SharedValues& operator=(const SharedValues&) = default;
  virtual ~SharedValues() = default;

  // All fail with run_failed when the values, which rank 0 keeps, are gone.
  virtual Status set(const std::string& key, const std::string& value) = 0;
  virtual Result<bool> has(const std::string& key) = 0;
  // Blocks until somebody has set it, or the time is over, which is run_failed as well.
  virtual Result<std::string> wait(const std::string& key, std::chrono::milliseconds timeout) = 0;
};

// Like wait(), but ends with run_failed as soon as `failure` knows why the run cannot go on: a rank that
// waits for another one hears of it when that one fails.
Result<std::string> wait_unless_failed(SharedValues& values, const std::string& key,
                                       std::chrono::milliseconds timeout,
                                       const std::function<std::optional<std::string>()>& failure);

}  // namespace shardlab

// The store through which ranks meet: small values under names, seen by all ranks. Any number of threads may
// use it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/base/result.h"

namespace shardlab {

class KeyValueStore {
 public:
  explicit KeyValueStore(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  // All fail with run_failed when the store, which rank 0 serves, is gone.
  Status set(const std::string& key, const std::string& value);
  Result<bool> has(const std::string& key);
  // Blocks until somebody has set it, or the time is over, which is run_failed as well.
  Result<std::string> wait(const std::string& key, std::chrono::milliseconds timeout);

 private:
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace shardlab

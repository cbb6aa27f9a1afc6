// The store through which ranks meet, c10d's, as shared values. Errors: run_failed, with what c10d threw,
// where rank 0 does not answer or a time is over.
#pragma once

#include <chrono>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/base/result.h"
#include "engine/execute/watch/shared_values.h"

namespace shardlab {

class KeyValueStore : public SharedValues {
 public:
  explicit KeyValueStore(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  Status set(const std::string& key, const std::string& value) override;
  Result<bool> has(const std::string& key) override;
  Result<std::string> wait(const std::string& key, std::chrono::milliseconds timeout) override;

 private:
  c10::intrusive_ptr<c10d::Store> store_;
};

}  // namespace shardlab

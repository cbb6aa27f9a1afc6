#include "engine/execute/torch/communication/key_value_store.h"

#include <exception>

#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

template <typename Function>
auto guarded(Function function) -> Result<decltype(function())> {
  try {
    return function();
  } catch (const std::exception& error) {
    return run_failed("the meeting point", first_line(error.what()), "is rank 0 still running?");
  }
}

}  // namespace

Status KeyValueStore::set(const std::string& key, const std::string& value) {
  SHARDLAB_CHECK_OK(guarded([&] {
    store_->set(key, std::vector<std::uint8_t>(value.begin(), value.end()));
    return true;
  }));
  return {};
}

Result<bool> KeyValueStore::has(const std::string& key) {
  return guarded([&] { return store_->check({key}); });
}

Result<std::string> KeyValueStore::wait(const std::string& key, std::chrono::milliseconds timeout) {
  return guarded([&] {
    store_->wait({key}, timeout);
    const std::vector<std::uint8_t> value = store_->get(key);
    return std::string(value.begin(), value.end());
  });
}

}  // namespace shardlab

// A value that is made once on a thread of its own, so that no frame waits for it.
#pragma once

#include <chrono>
#include <future>
#include <optional>

namespace shardlab::view {

template <typename T>
class Background {
 public:
  // Starts `make` at the first call; null until its value is there.
  template <typename Make>
  const T* get(Make make) {
    if (value_) return &*value_;
    if (!making_.valid()) making_ = std::async(std::launch::async, std::move(make));
    if (making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) value_ = making_.get();
    return value_ ? &*value_ : nullptr;
  }

 private:
  std::future<T> making_;
  std::optional<T> value_;
};

}  // namespace shardlab::view

// A value that is made once on a thread of its own, so that no frame waits for it.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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
  // While the thread works: nobody takes the value while the panel that asked for it is covered.
  bool busy() const {
    return making_.valid() && making_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }

 private:
  std::future<T> making_;
  std::optional<T> value_;
};

// A value that is made anew, on a thread, whenever what it is made of becomes another; the one before stays
// until the new one is there. For what takes longer than a frame may.

// Belongs to the frame's thread. `make` runs on another one and must not touch what the frame changes.
template <typename T>
class Latest {
 public:
  // While one wish is being fulfilled only the last of those that come meanwhile is kept.
  void want(std::function<T()> make) {
    wanted_ = std::move(make);
    start();
  }

  // Takes what is ready; true when value() is another one now.
  bool poll() {
    const bool ready =
        making_.valid() && making_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (ready) finish();
    start();
    return ready;
  }

  // What was made last; null until the first one is there.
  const std::shared_ptr<const T>& value() const { return value_; }
  bool busy() const { return making_.valid(); }
  // Why the last one could not be made: an exception, which must not end the window.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  void finish() {
    failure_.reset();
    try {
      value_ = making_.get();
    } catch (const std::exception& exception) {
      failure_ = exception.what();
    }
  }

  void start() {
    if (making_.valid() || !wanted_) return;
    making_ = std::async(std::launch::async, [make = std::exchange(wanted_, nullptr)] {
      return std::shared_ptr<const T>(std::make_shared<T>(make()));
    });
  }

  std::function<T()> wanted_;
  std::future<std::shared_ptr<const T>> making_;
  std::shared_ptr<const T> value_;
  std::optional<std::string> failure_;
};

}  // namespace shardlab::view

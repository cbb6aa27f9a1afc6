// A thread that notices what the issuing thread cannot: communicators that broke and peers that went silent.
//
// Work on a GPU that waits for a lost peer never ends by itself, and the host may be blocked inside a launch
// behind it. On the first failure the watch aborts everything that was given to it, which lets the device
// come to an end, and check() throws from then on. All but the watch's own functions run on its thread, so
// that no other one is held up by a library that does not come back.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace shardlab {

class FailureWatch {
 public:
  // `poll` tells what is broken, if anything is, and must not block; `abort`, given the reason, ends it.
  struct Watched {
    std::function<std::optional<std::string>()> poll;
    std::function<void(const std::string& reason)> abort;
  };

  FailureWatch();
  ~FailureWatch();  // stop()
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

  // What comes after the failure is aborted too.
  void add(Watched watched);
  // What was found.
  std::optional<std::string> failure() const;
  // Throws it as DeviceFailure. Cheap.
  void check() const;
  // As if the watch had found it: the host has waited too long. Returns before anything is aborted.
  void fail(const std::string& what);
  // Nothing is polled or aborted any more when it returns.
  void stop();

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched> watched_;
  std::size_t aborted_ = 0;  // the first so many of them
  std::optional<std::string> failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace shardlab

// A thread that notices what the issuing thread cannot: communicators that broke and peers that went silent.
//
// Work on a GPU that waits for a lost peer never ends by itself, and the host may be blocked inside a launch
// behind it. On the first failure the watch aborts everything that was given to it, which lets the device
// come to an end, and check() throws from then on.
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
  // `poll` tells what is broken, if anything is; `abort` ends it. Both are called on the watch's thread.
  struct Watched {
    std::function<std::optional<std::string>()> poll;
    std::function<void()> abort;
  };

  FailureWatch();
  ~FailureWatch();
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;

  void add(Watched watched);
  // Throws what was found. Cheap.
  void check() const;
  // As if the watch had found it: the host has waited too long.
  void fail(const std::string& what);

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched> watched_;
  std::optional<std::string> failure_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace shardlab

// A thread that runs operations one after the other and remembers when each began and ended.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/execute/torch/communication/communicator.h"

namespace shardlab {

class BackgroundWorker {
 public:
  BackgroundWorker();
  ~BackgroundWorker();  // runs what is queued, then ends the thread
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  // Queues the operation. What it throws is thrown by Pending::wait; it is destroyed as soon as it has run.
  std::unique_ptr<Pending> submit(std::function<void()> operation);

  struct Task;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> queue_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses what stands above
};

}  // namespace shardlab

#include "tests/nccl_stand_in/streams.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/nccl_stand_in/stand_in.h"

namespace stand_in {
namespace {

class Worker {
 public:
  Worker() {
    std::thread([this] { run(); }).detach();
  }

  void add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done(); });
  }

  bool ask() {
    const std::lock_guard lock(mutex_);
    return is_done();
  }

 private:
  bool is_done() const { return queue_.empty() && !busy_; }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !queue_.empty(); });
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      work();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool busy_ = false;
};

Worker& worker(void* stream) {
  static auto* mutex = new std::mutex;
  static auto* all = new std::map<void*, std::unique_ptr<Worker>>;  // their threads never end
  const std::lock_guard lock(*mutex);
  std::unique_ptr<Worker>& known = (*all)[stream];
  if (!known) known = std::make_unique<Worker>();
  return *known;
}

}  // namespace

void enqueue(void* stream, std::function<void()> work) {
  worker(stream).add(std::move(work));
}

}  // namespace stand_in

void standInSynchronize(void* stream) {
  stand_in::worker(stream).wait();
}

int standInIsDone(void* stream) {
  return stand_in::worker(stream).ask() ? 1 : 0;
}

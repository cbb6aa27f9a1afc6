#include "gui/session/task_thread.h"

#include <utility>

namespace shardlab::gui {

TaskThread::TaskThread(std::function<void()> wake) : wake_(std::move(wake)), thread_([this] { work(); }) {}

TaskThread::~TaskThread() {
  drop_all();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TaskThread::add(Task task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void TaskThread::drop_all() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  done_.clear();
  dropped_ = working_;
}

void TaskThread::deliver() {
  std::vector<Delivery> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Delivery& each : done) each();
}

bool TaskThread::busy() const {
  const std::lock_guard lock(mutex_);
  return !is_done() || !done_.empty();
}

void TaskThread::wait_until_done() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_done(); });
}

void TaskThread::work() {
  const IsWanted is_wanted = [this] {
    const std::lock_guard lock(mutex_);
    return !dropped_;
  };
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    working_ = true;
    lock.unlock();
    Delivery delivery = task(is_wanted);
    lock.lock();
    working_ = false;
    if (!std::exchange(dropped_, false)) done_.push_back(std::move(delivery));
    lock.unlock();
    changed_.notify_all();
    if (wake_) wake_();
    lock.lock();
  }
}

}  // namespace shardlab::gui

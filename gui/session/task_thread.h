// A thread that does tasks one after the other, each of which can be told that nobody waits for it any more.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shardlab::gui {

class TaskThread {
 public:
  using IsWanted = std::function<bool()>;
  // What is to be done with a result, on the thread that calls deliver().
  using Delivery = std::function<void()>;
  using Task = std::function<Delivery(const IsWanted&)>;

  // `wake` is called on the other thread after each task; may be empty.
  explicit TaskThread(std::function<void()> wake = {});
  // Drops all, and waits for the task under way.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void add(Task task);
  // Those that wait, those that are done and not delivered, and the one under way, which is told so.
  void drop_all();
  // Hands on what was done since the last call.
  void deliver();

  // Whether a task waits or is under way, or something waits for its delivery.
  bool busy() const;
  // Waits until all is done; for pictures and tests.
  void wait_until_done();

 private:
  void work();
  bool is_done() const { return !working_ && waiting_.empty(); }

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> waiting_;
  std::vector<Delivery> done_;
  bool working_ = false;
  bool dropped_ = false;  // the task under way
  bool stopping_ = false;
  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace shardlab::gui

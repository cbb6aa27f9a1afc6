#include "gui/session/task_thread.h"

#include <atomic>
#include <chrono>
#include <vector>

#include "tests/catch.h"

namespace shardlab::gui {
namespace {

TaskThread::Task adds(std::vector<int>& to, int number) {
  return [&to, number](const TaskThread::IsWanted&) -> TaskThread::Delivery {
    return [&to, number] { to.push_back(number); };
  };
}

// Runs until nobody waits for it.
TaskThread::Task runs_until_dropped(std::atomic<bool>& running, std::vector<int>& to) {
  return [&](const TaskThread::IsWanted& is_wanted) -> TaskThread::Delivery {
    running = true;
    while (is_wanted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    running = false;
    return [&to] { to.push_back(-1); };
  };
}

}  // namespace

TEST_CASE("tasks are done in order, and their results come where they are asked for") {
  std::vector<int> done;
  std::atomic<int> woken = 0;
  TaskThread thread([&] { ++woken; });
  for (const int each : {1, 2, 3}) thread.add(adds(done, each));
  thread.wait_until_done();
  CHECK(done.empty());
  CHECK(thread.busy());
  thread.deliver();
  CHECK(done == std::vector<int>{1, 2, 3});
  CHECK_FALSE(thread.busy());
  thread.deliver();
  CHECK(done.size() == 3);
  while (woken < 3) std::this_thread::yield();
}

TEST_CASE("what is dropped is told so and delivers nothing, and the next task is done") {
  std::vector<int> done;
  std::atomic<bool> running = false;
  TaskThread thread;
  thread.add(runs_until_dropped(running, done));
  while (!running) std::this_thread::yield();
  thread.add(adds(done, 1));
  thread.drop_all();
  thread.add(adds(done, 2));
  thread.wait_until_done();
  thread.deliver();
  CHECK(done == std::vector<int>{2});
  thread.add(adds(done, 3));
  thread.wait_until_done();
  thread.drop_all();
  CHECK_FALSE(thread.busy());
  thread.deliver();
  CHECK(done == std::vector<int>{2});
}

TEST_CASE("the end of a thread does not wait for what could go on for ever") {
  std::vector<int> done;
  std::atomic<bool> running = false;
  {
    TaskThread thread;
    thread.add(runs_until_dropped(running, done));
    while (!running) std::this_thread::yield();
  }
  CHECK_FALSE(running);
  CHECK(done.empty());
}

}  // namespace shardlab::gui

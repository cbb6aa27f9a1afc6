#include "engine/execute/torch/communication/background_worker.h"

#include <exception>

#include <c10/core/InferenceMode.h>

namespace shardlab {

struct BackgroundWorker::Task {
  std::function<void()> operation;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  std::exception_ptr failure;
  Nanoseconds began, completed;

  void execute() {
    began = monotonic_now();
    try {
      operation();
    } catch (...) {
      failure = std::current_exception();
    }
    operation = nullptr;  // lets go of its tensors before anybody learns that it is done
    completed = monotonic_now();
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    finished.notify_all();
  }
};

namespace {

class WorkerPending : public Pending {
 public:
  explicit WorkerPending(std::shared_ptr<BackgroundWorker::Task> task) : task_(std::move(task)) {}

  void wait() override {
    std::unique_lock lock(task_->mutex);
    task_->finished.wait(lock, [&] { return task_->done; });
    if (task_->failure) std::rethrow_exception(task_->failure);
  }
  Nanoseconds began_at() const override { return task_->began; }
  Nanoseconds completed_at() const override { return task_->completed; }

 private:
  std::shared_ptr<BackgroundWorker::Task> task_;
};

}  // namespace

BackgroundWorker::BackgroundWorker() : thread_([this] { run(); }) {}

BackgroundWorker::~BackgroundWorker() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::unique_ptr<Pending> BackgroundWorker::submit(std::function<void()> operation) {
  auto task = std::make_shared<Task>();
  task->operation = std::move(operation);
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(task);
  }
  changed_.notify_one();
  return std::make_unique<WorkerPending>(std::move(task));
}

void BackgroundWorker::run() {
  const c10::InferenceMode no_autograd;
  for (;;) {
    std::shared_ptr<Task> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task->execute();
  }
}

}  // namespace shardlab

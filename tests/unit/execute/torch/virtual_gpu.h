// A device of made-up times: its host needs time to issue, its queues need time to work, and nothing else
// happens. Work is whatever somebody enqueues with a duration.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/execution_backend.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab::test {

class VirtualGpu : public StreamDevice {
 public:
  explicit VirtualGpu(Nanoseconds to_issue) : to_issue_(to_issue) {}

  // Work issued to the queue in use.
  void enqueue(Nanoseconds duration) {
    host_ += to_issue_;
    std::int64_t& end = ends_.at(in_use_);
    end = std::max(end, host_.value) + duration.value;
  }

  Queueing queueing() const override { return Queueing::by_stream; }
  QueueIndex queue(const std::string& name) override {
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known != names_.end()) return static_cast<QueueIndex>(known - names_.begin());
    names_.push_back(name);
    ends_.push_back(0);
    return static_cast<QueueIndex>(names_.size() - 1);
  }
  void use(QueueIndex queue) override { in_use_ = queue; }
  EventHandle record(QueueIndex queue) override {
    auto mark = std::make_shared<Mark>();
    mark->time = std::max(ends_.at(queue), host_.value);
    return mark;
  }
  void wait(QueueIndex queue, const EventHandle& event) override {
    ends_.at(queue) = std::max(ends_.at(queue), time_of(event));
  }
  void block(const EventHandle& event) override { host_.value = std::max(host_.value, time_of(event)); }
  void delay(QueueIndex queue, Nanoseconds time) override {
    ends_.at(queue) = std::max(ends_.at(queue), host_.value) + time.value;
  }
  void drain() override {
    host_.value = std::max(host_.value, *std::max_element(ends_.begin(), ends_.end()));
  }
  Nanoseconds between(const EventHandle& earlier, const EventHandle& later) override {
    return {time_of(later) - time_of(earlier)};
  }
  bool failed_between(const EventHandle&, const EventHandle&) override { return false; }

 private:
  struct Mark : StreamEvent {
    std::int64_t time = 0;
  };
  static std::int64_t time_of(const EventHandle& event) { return static_cast<const Mark&>(*event).time; }

  const Nanoseconds to_issue_;
  Nanoseconds host_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> ends_{};
  QueueIndex in_use_ = 0;
};

class VirtualBackend : public ExecutionBackend {
 public:
  explicit VirtualBackend(VirtualGpu& gpu) : gpu_(gpu) {}
  c10::Device device() const override { return c10::kCPU; }
  Arithmetic arithmetic() const override { return Arithmetic::device; }
  StreamDevice& streams() override { return gpu_; }
  const OperatorImplementation* find_operator(std::string_view name) const override {
    return find_device_implementation(name);
  }
  void keep_for(const at::Tensor&, QueueIndex) override {}
  at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const override {
    return at::empty({elements}, at::TensorOptions(dtype));
  }

 private:
  VirtualGpu& gpu_;
};

// It stands for two ranks, whose collectives all take the same time on the device.
class VirtualCommunicator : public Communicator {
 public:
  VirtualCommunicator(VirtualGpu& gpu, Nanoseconds duration) : gpu_(gpu), duration_(duration) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::unique_ptr<Pending> all_gather(const at::Tensor&, const at::Tensor&) override { return issue(); }
  std::unique_ptr<Pending> reduce_scatter(const at::Tensor&, const at::Tensor&, ReduceOperation) override {
    return issue();
  }
  std::unique_ptr<Pending> all_reduce(const at::Tensor&, ReduceOperation) override { return issue(); }
  std::unique_ptr<Pending> reduce(const at::Tensor&, int, ReduceOperation) override { return issue(); }
  std::unique_ptr<Pending> broadcast(const at::Tensor&, int) override { return issue(); }
  std::unique_ptr<Pending> exchange(const at::Tensor&, const at::Tensor&, int) override { return issue(); }
  void barrier() override {}
  SentByKind sent() const override { return {}; }
  Bytes workspace() const override { return {}; }

 private:
  std::unique_ptr<Pending> issue() {
    gpu_.enqueue(duration_);
    return nullptr;
  }

  VirtualGpu& gpu_;
  const Nanoseconds duration_;
};

}  // namespace shardlab::test

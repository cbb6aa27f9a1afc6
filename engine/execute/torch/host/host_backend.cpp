#include "engine/execute/torch/host/host_backend.h"

#include <ATen/ops/empty.h>

#include "engine/execute/streams/host_queues.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

class HostBackend : public ExecutionBackend {
 public:
  explicit HostBackend(Arithmetic arithmetic)
      : arithmetic_(arithmetic),
        queues_(arithmetic == Arithmetic::host ? Queueing::on_host : Queueing::by_stream) {}

  c10::Device device() const override { return c10::kCPU; }
  Arithmetic arithmetic() const override { return arithmetic_; }
  StreamDevice& streams() override { return queues_; }
  const OperatorImplementation* find_operator(std::string_view name) const override {
    return arithmetic_ == Arithmetic::host ? find_implementation(name) : find_device_implementation(name);
  }
  void keep_for(const at::Tensor&, QueueIndex) override {}
  at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const override {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    return at::empty({elements}, at::TensorOptions(dtype));
  }

 private:
  const Arithmetic arithmetic_;
  HostQueues queues_;
};

}  // namespace

std::shared_ptr<ExecutionBackend> make_host_backend(Arithmetic arithmetic) {
  return std::make_shared<HostBackend>(arithmetic);
}

}  // namespace shardlab

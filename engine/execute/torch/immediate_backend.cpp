#include <ATen/ops/empty.h>

#include "engine/execute/streams/immediate_device.h"
#include "engine/execute/torch/execution_backend.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

class ImmediateBackend : public ExecutionBackend {
 public:
  c10::Device device() const override { return c10::kCPU; }
  StreamDevice& streams() override { return device_; }
  const OperatorImplementation* find_operator(std::string_view name) const override {
    return find_device_implementation(name);
  }
  void keep_for(const at::Tensor&, QueueIndex) override {}
  // A GPU's memory has no part in it.
  at::Tensor host_memory(std::int64_t elements, c10::ScalarType dtype) const override {
    const MemoryLedger uncounted;
    const LedgerScope scope(uncounted);
    return at::empty({elements}, at::TensorOptions(dtype));
  }

 private:
  ImmediateDevice device_;
};

}  // namespace

std::shared_ptr<ExecutionBackend> make_immediate_backend() {
  return std::make_shared<ImmediateBackend>();
}

}  // namespace shardlab

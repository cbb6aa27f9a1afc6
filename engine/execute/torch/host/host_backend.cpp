#include "engine/execute/torch/host/host_backend.h"

#include <ATen/ops/empty.h>

#include "engine/execute/machine.h"
#include "engine/execute/streams/host_queues.h"
#include "engine/execute/torch/communication/rendezvous.h"
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

namespace {

class HostRuntime : public DeviceRuntime {
 public:
  explicit HostRuntime(int rank) : rank_(rank) {}

  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }
  Result<Communicators> connect(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups) override {
    return connect_groups(rendezvous, groups, rank_);
  }
  std::string name() const override { return processor_description(); }
  std::map<std::string, std::string> versions() const override { return {}; }
  std::optional<DeviceMemory> memory() const override { return std::nullopt; }
  void end_step() override {}
  void report(const std::string&) override {
  }  // a rank that ends closes its connections, which the others see
  void finish() override {}
  Status save_history(const std::filesystem::path& path) const override {
    return not_possible(path.string(), "a processor's allocator keeps no history");
  }

 private:
  const int rank_;
  const std::shared_ptr<ExecutionBackend> backend_ = make_host_backend();
};

}  // namespace

std::unique_ptr<DeviceRuntime> make_host_runtime(const DeviceRequest& request) {
  MemoryLedger ledger = request.ledger;
  if (request.memory_limit.value > 0) ledger.set_limit(request.memory_limit);
  return std::make_unique<HostRuntime>(request.environment.rank);
}

}  // namespace shardlab

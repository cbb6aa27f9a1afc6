#include "engine/execute/torch/host/host_runtime.h"

#include "engine/execute/machine.h"
#include "engine/execute/torch/communication/connect_groups.h"
#include "engine/execute/torch/host/host_backend.h"

namespace shardlab {
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
  void report(const std::string&) override {
  }  // a rank that ends closes its connections, which the others see
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

// A processor in the place of a GPU: the rank's program for GPUs with the host's queues, the arithmetic of
// devices and Gloo instead of CUDA and NCCL. Everything around the device is the real thing: planning for
// GPUs, issuing on queues, times from events, files, calibrations.
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/execute/torch/device_runtime.h"
#include "engine/execute/torch/host/host_backend.h"

namespace shardlab {
namespace {

class ProcessorRuntime : public DeviceRuntime {
 public:
  explicit ProcessorRuntime(const DeviceRequest& request) : rank_(request.environment.rank) {}

  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }
  Result<Communicators> connect(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups) override {
    return connect_groups(rendezvous, groups, rank_);
  }
  std::string name() const override { return "H100 rehearsed on a processor"; }
  std::map<std::string, std::string> versions() const override { return {{"cuda", "none"}}; }
  std::optional<DeviceMemory> memory() const override { return DeviceMemory{}; }
  void report(const std::string&) override {}
  Status save_history(const std::filesystem::path& path) const override {
    return not_possible(in_file(path.string()), "a processor's allocator keeps no history");
  }

 private:
  const int rank_;
  const std::shared_ptr<ExecutionBackend> backend_ = make_host_backend(Arithmetic::device);
};

}  // namespace

Result<std::unique_ptr<DeviceRuntime>> make_device_runtime(const DeviceRequest& request) {
  return std::make_unique<ProcessorRuntime>(request);
}

}  // namespace shardlab

// Opens the rank's GPU and puts streams, memory, NCCL and the watch together.
#include "engine/execute/torch/device_runtime.h"

#include <algorithm>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "engine/execute/torch/communication/peer_watch.h"
#include "engine/execute/torch/cuda/cuda_backend.h"
#include "engine/execute/torch/cuda/cuda_memory.h"
#include "engine/execute/torch/cuda/nccl_communicator.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The GPU of this rank: its local rank among those that are visible. NCCL 2.30 and newer let ranks share one.
Result<c10::DeviceIndex> choose_ordinal(const RankEnvironment& environment) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  const std::string visible = variable("CUDA_VISIBLE_DEVICES");
  const std::string seen = visible.empty() ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible);
  if (result != cudaSuccess || count == 0) {
    return not_possible(
        on_rank(environment.rank),
        fmt::format("there is no usable GPU here{}: {}", seen,
                    result == cudaSuccess ? "none is visible" : cudaGetErrorString(result)),
        "--set 'cluster={device: cpu, ranks: 2}' trains on processors; `shardlab simulate` needs no GPU");
  }
  const bool shared = variable("NCCL_MULTI_RANK_GPU_ENABLE") == "1";
  if (environment.local_rank < count) return static_cast<c10::DeviceIndex>(environment.local_rank);
  if (shared) return static_cast<c10::DeviceIndex>(environment.local_rank % count);
  return bad_input(on_rank(environment.rank),
                   fmt::format("LOCAL_RANK is {}, but only {} GPU{} visible{}", environment.local_rank, count,
                               count == 1 ? " is" : "s are", seen),
                   "start as many ranks a node as it has GPUs, or set cluster.gpus_per_node to what is here");
}

class CudaRuntime : public DeviceRuntime {
 public:
  CudaRuntime(const DeviceRequest& request, c10::DeviceIndex ordinal)
      : request_(request),
        ordinal_(ordinal),
        backend_(std::make_shared<CudaBackend>(ordinal, watch_, request.timeout)) {}

  ~CudaRuntime() override {
    if (peers_) peers_->finish();
  }

  Status open() {
    check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice");
    check_cuda(cudaGetDeviceProperties(&properties_, ordinal_), "cudaGetDeviceProperties");
    at::globalContext().lazyInitDevice(c10::kCUDA);
    // What training scripts set or leave at torch's defaults, said aloud: float32 stays float32.
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
    memory_.context = device_memory_in_use(ordinal_);
    if (request_.memory_limit.value > 0) limit_memory();
    book_device_blocks();
    if (request_.history) record_allocator_history();
    return {};
  }

  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }

  Result<Communicators> connect(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups) override {
    Communicators communicators;
    if (request_.environment.world == 1) return communicators;
    SHARDLAB_TRY(nccl_, load_nccl());
    KeyValueStore store = rendezvous.store();
    SHARDLAB_CHECK_OK(compare_versions(store));
    const Bytes before = device_memory_in_use(ordinal_);
    for (const RankGroup& group : groups) {
      const NcclGroup members{to_text(group.set), group.ranks, request_.environment.rank};
      SHARDLAB_TRY(communicators[group.set],
                   make_nccl_communicator(*nccl_, members, ordinal_, store, watch_, request_.timeout));
    }
    memory_.communication = device_memory_in_use(ordinal_) - before;
    peers_ = std::make_shared<PeerWatch>(store, request_.environment.rank, request_.environment.world);
    watch_.add({[peers = peers_] { return peers->poll(); }, [] {}});
    return communicators;
  }

  std::string name() const override { return properties_.name; }

  std::map<std::string, std::string> versions() const override {
    int driver = 0;
    int runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    std::map<std::string, std::string> all{{"cuda_driver", version_text(driver)},
                                           {"cuda", version_text(runtime)}};
    if (nccl_ != nullptr) all["nccl"] = nccl_version_text(nccl_->version);
    return all;
  }

  std::optional<DeviceMemory> memory() const override {
    DeviceMemory memory = memory_;
    read_allocator_peaks(ordinal_, memory);
    memory.device_peak =
        device_memory_in_use(ordinal_);  // the allocator never gave anything back: this is the most
    return memory;
  }

  void report(const std::string& what) override {
    if (peers_) peers_->report(what);
  }

  Status save_history(const std::filesystem::path& path) const override {
    return save_allocator_history(path);
  }

 private:
  void limit_memory() const {
    const double fraction =
        static_cast<double>(request_.memory_limit.value) / static_cast<double>(properties_.totalGlobalMem);
    c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(1.0, fraction), ordinal_);
  }

  // A rank with another NCCL would hang the others or give wrong sums.
  Status compare_versions(KeyValueStore& store) const {
    const std::string mine = nccl_version_text(nccl_->version);
    const int rank = request_.environment.rank;
    if (rank == 0) return store.set("nccl/version", mine);
    SHARDLAB_TRY(const std::string first, store.wait("nccl/version", request_.timeout));
    if (first == mine) return {};
    return run_failed(
        on_rank(rank), fmt::format("has NCCL {}, rank 0 has {}", mine, first),
        "all machines must have the same version; SHARDLAB_NCCL_LIBRARY names the library to use");
  }

  const DeviceRequest request_;
  const c10::DeviceIndex ordinal_;
  FailureWatch watch_;
  std::shared_ptr<CudaBackend> backend_;
  std::shared_ptr<PeerWatch> peers_;
  const NcclLibrary* nccl_ = nullptr;
  cudaDeviceProp properties_{};
  DeviceMemory memory_;
};

}  // namespace

Result<std::unique_ptr<DeviceRuntime>> make_device_runtime(const DeviceRequest& request) {
  SHARDLAB_TRY(const c10::DeviceIndex ordinal, choose_ordinal(request.environment));
  try {
    auto runtime = std::make_unique<CudaRuntime>(request, ordinal);
    SHARDLAB_CHECK_OK(runtime->open());
    return runtime;
  } catch (const std::exception& error) {
    return not_possible(on_rank(request.environment.rank, fmt::format("GPU {}", static_cast<int>(ordinal))),
                        first_line(error.what()),
                        "nvidia-smi shows whether the driver works and who uses the GPU");
  }
}

}  // namespace shardlab

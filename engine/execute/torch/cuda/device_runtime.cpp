// Opens the rank's GPU and puts streams, memory, NCCL and the watch together.
#include "engine/execute/torch/device_runtime.h"

#include <unistd.h>

#include <algorithm>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "engine/execute/gpu_places.h"
#include "engine/execute/gpu_process_memory.h"
#include "engine/execute/machine.h"
#include "engine/execute/torch/communication/nccl_session.h"
#include "engine/execute/torch/cuda/cuda_backend.h"
#include "engine/execute/torch/cuda/cuda_memory.h"
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

// As nvidia-smi and NVML write it.
std::string uuid_text(const cudaDeviceProp& properties) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(properties.uuid.bytes); ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

bool gpus_may_be_shared() {
  return variable("NCCL_MULTI_RANK_GPU_ENABLE") == "1";
}

Result<c10::DeviceIndex> choose_ordinal(const RankEnvironment& environment) {
  VisibleGpus visible{0, variable("CUDA_VISIBLE_DEVICES"), gpus_may_be_shared()};
  const cudaError_t result = cudaGetDeviceCount(&visible.count);
  if (result != cudaSuccess || visible.count == 0) {
    return not_possible(
        on_rank(environment.rank),
        fmt::format(
            "there is no usable GPU here{}: {}",
            visible.variable.empty() ? "" : fmt::format(" (CUDA_VISIBLE_DEVICES={})", visible.variable),
            result == cudaSuccess ? "none is visible" : cudaGetErrorString(result)),
        "--set 'cluster={device: cpu, ranks: 2}' trains on processors; `shardlab simulate` needs no GPU");
  }
  SHARDLAB_TRY(const int chosen, choose_gpu(environment, visible));
  return static_cast<c10::DeviceIndex>(chosen);
}

class CudaRuntime : public DeviceRuntime {
 public:
  CudaRuntime(const DeviceRequest& request, c10::DeviceIndex ordinal)
      : request_(request),
        ordinal_(ordinal),
        backend_(std::make_shared<CudaBackend>(ordinal, watch_, request.timeout)),
        session_(request.environment, request.timeout, watch_) {}

  Status open() {
    check_cuda(cudaSetDevice(ordinal_), "cudaSetDevice");
    check_cuda(cudaGetDeviceProperties(&properties_, ordinal_), "cudaGetDeviceProperties");
    management_ = load_management_library();
    at::globalContext().lazyInitDevice(c10::kCUDA);
    // What training scripts set or leave at torch's defaults, said aloud: float32 stays float32.
    at::globalContext().setAllowTF32CuBLAS(false);
    at::globalContext().setAllowTF32CuDNN(false);
    take_library_workspace();
    if (request_.memory_limit.value > 0) limit_memory();
    memory_.context = in_use() - reserved();
    book_device_blocks();
    if (request_.history) record_allocator_history();
    return {};
  }

  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }

  Result<Communicators> connect(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups) override {
    if (request_.environment.world == 1) return Communicators{};
    const std::string gpu = gpus_may_be_shared() ? "" : host_identity() + " " + uuid_text(properties_);
    const Bytes before = in_use() - reserved();
    auto communicators =
        session_.connect(std::make_shared<KeyValueStore>(rendezvous.store()), groups, nccl_streams(), gpu);
    c10::cuda::CUDACachingAllocator::emptyCache();  // what the first collectives worked on is not the run's
    c10::cuda::CUDACachingAllocator::resetPeakStats(ordinal_);
    memory_.communication = in_use() - reserved() - before;
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
    if (session_.library() != nullptr) all["nccl"] = nccl_version_text(session_.library()->version);
    return all;
  }

  std::optional<DeviceMemory> memory() const override {
    DeviceMemory memory = memory_;
    read_allocator_peaks(ordinal_, memory);
    return memory;
  }

  // The allocator may have given memory back since (retries), so one reading at the end would be too little.
  void end_step() override { memory_.device_peak = std::max(memory_.device_peak, in_use()); }

  void report(const std::string& what) override { session_.report(what); }
  void finish() override { session_.finish(); }

  Status save_history(const std::filesystem::path& path) const override {
    return save_allocator_history(path);
  }

 private:
  // It counts the libraries' workspace, but that is there whatever the limit: a step fails by its own
  // allocations, which is a result.
  void limit_memory() const {
    const double fraction =
        static_cast<double>(request_.memory_limit.value) / static_cast<double>(properties_.totalGlobalMem);
    c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(1.0, fraction), ordinal_);
  }

  // cuBLAS's handle of this thread and the compute stream takes its workspace from the caching allocator when
  // it is first asked for, and keeps it: a library's, not of any step.
  void take_library_workspace() {
    const QueueIndex compute = backend_->streams().queue("compute");
    backend_->streams().use(compute);
    (void)at::cuda::getCurrentCUDABlasHandle();
    DeviceMemory now;
    read_allocator_peaks(ordinal_, now);
    memory_.library_workspace = now.requested;
  }

  Bytes reserved() const {
    DeviceMemory now;
    read_allocator_peaks(ordinal_, now);
    return now.reserved;
  }

  std::optional<Bytes> held_by_this_process() const {
    if (!management_) return std::nullopt;
    return process_memory(*management_, uuid_text(properties_), ::getpid());
  }
  Bytes in_use() const { return held_by_this_process().value_or(device_memory_in_use(ordinal_)); }

  NcclStreams nccl_streams() const {
    NcclStreams streams;
    streams.device = c10::Device(c10::kCUDA, ordinal_);
    streams.current = [ordinal = ordinal_]() -> nccl::Stream {
      return c10::cuda::getCurrentCUDAStream(ordinal).stream();
    };
    streams.wait = [](nccl::Stream stream) {
      check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "waiting for a stream");
    };
    streams.enter = [ordinal = ordinal_] { check_cuda(cudaSetDevice(ordinal), "cudaSetDevice"); };
    return streams;
  }

  const DeviceRequest request_;
  const c10::DeviceIndex ordinal_;
  FailureWatch watch_;
  std::shared_ptr<CudaBackend> backend_;
  NcclSession session_;
  std::optional<ManagementLibrary> management_;
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

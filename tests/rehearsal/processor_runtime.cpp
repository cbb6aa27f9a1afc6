// A processor in the place of a GPU: the rank's program for GPUs with the host's queues and the arithmetic of
// devices. Everything around the device is the real thing: planning for GPUs, issuing on queues, times from
// events, files, calibrations, and all that ranks have with each other: NCCL's communicators and watches, on
// a library in NCCL's place (tests/nccl_stand_in), which SHARDLAB_NCCL_LIBRARY names or which lies beside the
// program. Where there is none, Gloo.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/execute/torch/communication/nccl_session.h"
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/execute/torch/device_runtime.h"
#include "engine/execute/torch/host/host_backend.h"
#include "tests/nccl_stand_in/stand_in.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The stand-in as the session loads it; empty where there is none.
std::string stand_in_path() {
  const char* named = std::getenv("SHARDLAB_NCCL_LIBRARY");
  if (named != nullptr && *named != '\0') return named;
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "nccl_stand_in";
  const fs::path library = beside / "libnccl_stand_in.so";
  return fs::exists(library) ? library.string() : std::string();
}

// How a stream's end is awaited: as a GPU's events are, until the watch finds a failure or for so long.
struct Waiting {
  decltype(&standInIsDone) is_done = nullptr;
  FailureWatch& watch;
  std::chrono::milliseconds timeout;
};

class StreamEnd : public Pending {
 public:
  explicit StreamEnd(const Waiting& waiting) : waiting_(waiting), began_(monotonic_now()) {}
  void wait() override {
    const auto end = std::chrono::steady_clock::now() + waiting_.timeout;
    while (waiting_.is_done(nullptr) == 0) {
      waiting_.watch.check();
      if (std::chrono::steady_clock::now() > end) {
        waiting_.watch.fail("the device did not get on within " +
                            std::to_string(waiting_.timeout.count() / 1000) + " s");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    waiting_.watch.check();
    completed_ = monotonic_now();
  }
  Nanoseconds began_at() const override { return began_; }
  Nanoseconds completed_at() const override { return completed_; }

 private:
  const Waiting waiting_;
  const Nanoseconds began_;
  Nanoseconds completed_;
};

// Collectives of NCCL's interface, which end on a stream, as work that is waited for.
class AwaitedCommunicator : public Communicator {
 public:
  AwaitedCommunicator(std::shared_ptr<Communicator> inner, const Waiting& waiting)
      : inner_(std::move(inner)), waiting_(waiting) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::unique_ptr<Pending> all_gather(const at::Tensor& gathered, const at::Tensor& own) override {
    (void)inner_->all_gather(gathered, own);
    return end();
  }
  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& own, const at::Tensor& full,
                                          ReduceOperation operation) override {
    (void)inner_->reduce_scatter(own, full, operation);
    return end();
  }
  std::unique_ptr<Pending> all_reduce(const at::Tensor& values, ReduceOperation operation) override {
    (void)inner_->all_reduce(values, operation);
    return end();
  }
  std::unique_ptr<Pending> reduce(const at::Tensor& values, int root, ReduceOperation operation) override {
    (void)inner_->reduce(values, root, operation);
    return end();
  }
  std::unique_ptr<Pending> broadcast(const at::Tensor& values, int root) override {
    (void)inner_->broadcast(values, root);
    return end();
  }
  std::unique_ptr<Pending> exchange(const at::Tensor& sent, const at::Tensor& received, int peer) override {
    (void)inner_->exchange(sent, received, peer);
    return end();
  }
  void barrier() override { inner_->barrier(); }
  SentByKind sent() const override { return inner_->sent(); }
  Bytes workspace() const override { return inner_->workspace(); }

 private:
  std::unique_ptr<Pending> end() const { return std::make_unique<StreamEnd>(waiting_); }

  const std::shared_ptr<Communicator> inner_;
  const Waiting waiting_;
};

class ProcessorRuntime : public DeviceRuntime {
 public:
  explicit ProcessorRuntime(const DeviceRequest& request)
      : request_(request), session_(request.environment, request.timeout, watch_) {
    MemoryLedger ledger = request.ledger;
    if (request.memory_limit.value > 0) ledger.set_limit(request.memory_limit);
  }

  std::shared_ptr<ExecutionBackend> backend() override { return backend_; }
  Result<Communicators> connect(const Rendezvous& rendezvous, const std::vector<RankGroup>& groups) override {
    const std::string library = stand_in_path();
    if (library.empty()) return connect_groups(rendezvous, groups, request_.environment.rank);
    if (request_.environment.world == 1) return Communicators{};
    ::setenv("SHARDLAB_NCCL_LIBRARY", library.c_str(), 1);
    void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto find = [&](const char* name) { return loaded != nullptr ? ::dlsym(loaded, name) : nullptr; };
    const auto is_done = reinterpret_cast<decltype(&standInIsDone)>(find("standInIsDone"));
    const auto synchronize = reinterpret_cast<decltype(&standInSynchronize)>(find("standInSynchronize"));
    if (is_done == nullptr || synchronize == nullptr)
      return not_possible(library, "is no library that rehearses NCCL");
    NcclStreams streams;
    streams.current = []() -> nccl::Stream { return nullptr; };
    streams.wait = [synchronize](nccl::Stream stream) { synchronize(stream); };
    const std::string gpu = "the processor of rank " + std::to_string(request_.environment.rank);
    SHARDLAB_TRY(Communicators all,
                 session_.connect(std::make_shared<KeyValueStore>(rendezvous.store()), groups, streams, gpu));
    const Waiting waiting{is_done, watch_, request_.timeout};
    for (auto& [set, communicator] : all)
      communicator = std::make_shared<AwaitedCommunicator>(communicator, waiting);
    return all;
  }
  std::string name() const override { return "H100 rehearsed on a processor"; }
  std::map<std::string, std::string> versions() const override { return {{"cuda", "none"}}; }
  std::optional<DeviceMemory> memory() const override { return DeviceMemory{}; }
  void end_step() override {}
  void report(const std::string& what) override { session_.report(what); }
  void finish() override { session_.finish(); }
  Status save_history(const std::filesystem::path& path) const override {
    return not_possible(in_file(path.string()), "a processor's allocator keeps no history");
  }

 private:
  const DeviceRequest request_;
  FailureWatch watch_;
  NcclSession session_;
  const std::shared_ptr<ExecutionBackend> backend_ = make_host_backend(Arithmetic::device);
};

}  // namespace

Result<std::unique_ptr<DeviceRuntime>> make_device_runtime(const DeviceRequest& request) {
  return std::make_unique<ProcessorRuntime>(request);
}

}  // namespace shardlab

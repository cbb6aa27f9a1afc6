#include "engine/execute/torch/cuda/nccl_communicator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>

#include "engine/execute/torch/cuda/cuda_memory.h"
#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

ncclDataType_t nccl_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return ncclFloat32;
    case at::kBFloat16: return ncclBfloat16;
    case at::kHalf: return ncclFloat16;
    case at::kDouble: return ncclFloat64;
    case at::kInt: return ncclInt32;
    case at::kLong: return ncclInt64;
    case at::kByte: return ncclUint8;
    default:
      throw std::invalid_argument(
          fmt::format("NCCL has no type for {}", c10::toString(tensor.scalar_type())));
  }
}

ncclRedOp_t nccl_operation(ReduceOperation operation) {
  if (operation == ReduceOperation::maximum) return ncclMax;
  return operation == ReduceOperation::average ? ncclAvg : ncclSum;
}

// The handle, shared with the watch's thread, which may abort it.
class Handle {
 public:
  Handle(const NcclLibrary& nccl, std::string name, std::chrono::milliseconds timeout)
      : nccl_(nccl), name_(std::move(name)), timeout_(timeout) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (communicator_ != nullptr && !aborted_.exchange(true)) (void)nccl_.destroy(communicator_);
  }

  const NcclLibrary& nccl() const { return nccl_; }
  ncclComm_t* place() { return &communicator_; }
  ncclComm_t get() const {
    if (aborted_) throw std::runtime_error(fmt::format("NCCL, group {}: was given up", name_));
    return communicator_;
  }

  // Until NCCL has taken what it said was in progress.
  void settle(ncclResult_t result, const char* what) {
    const auto began = std::chrono::steady_clock::now();
    while (result == ncclInProgress) {
      if (aborted_) throw std::runtime_error(fmt::format("NCCL, group {}: {} was given up", name_, what));
      if (std::chrono::steady_clock::now() - began > timeout_) {
        throw std::runtime_error(
            fmt::format("NCCL, group {}: {} did not end within {} s", name_, what,
                        std::chrono::duration_cast<std::chrono::seconds>(timeout_).count()));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      if (const ncclResult_t asked = nccl_.get_async_error(communicator_, &result); asked != ncclSuccess)
        result = asked;
    }
    if (result != ncclSuccess) throw std::runtime_error(text(result, what));
  }

  std::optional<std::string> broken() {
    if (aborted_ || communicator_ == nullptr) return std::nullopt;
    ncclResult_t state = ncclSuccess;
    (void)nccl_.get_async_error(communicator_, &state);
    if (state == ncclSuccess || state == ncclInProgress) return std::nullopt;
    return text(state, "a collective");
  }

  void abort() {
    if (communicator_ != nullptr && !aborted_.exchange(true)) (void)nccl_.abort(communicator_);
  }

 private:
  std::string text(ncclResult_t result, const char* what) const {
    const char* last = nccl_.last_error(communicator_);
    return fmt::format("NCCL, group {}: {} failed: {}{}{}", name_, what, nccl_.error_string(result),
                       last != nullptr && *last != '\0' ? ": " : "", last != nullptr ? first_line(last) : "");
  }

  const NcclLibrary& nccl_;
  const std::string name_;
  const std::chrono::milliseconds timeout_;
  ncclComm_t communicator_ = nullptr;
  std::atomic<bool> aborted_{false};
};

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<Handle> handle, int rank, int size, c10::DeviceIndex device)
      : handle_(std::move(handle)), rank_(rank), size_(size), device_(device) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Pending> all_gather(const at::Tensor& gathered, const at::Tensor& own) override {
    const ncclResult_t result = nccl().all_gather(own.data_ptr(), gathered.data_ptr(), count(own),
                                                  nccl_type(own), handle_->get(), stream());
    handle_->settle(result, "all-gather");
    return nullptr;
  }

  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& own, const at::Tensor& full,
                                          ReduceOperation operation) override {
    const ncclResult_t result =
        nccl().reduce_scatter(full.data_ptr(), own.data_ptr(), count(own), nccl_type(own),
                              nccl_operation(operation), handle_->get(), stream());
    handle_->settle(result, "reduce-scatter");
    return nullptr;
  }

  std::unique_ptr<Pending> all_reduce(const at::Tensor& values, ReduceOperation operation) override {
    const ncclResult_t result =
        nccl().all_reduce(values.data_ptr(), values.data_ptr(), count(values), nccl_type(values),
                          nccl_operation(operation), handle_->get(), stream());
    handle_->settle(result, "all-reduce");
    return nullptr;
  }

  std::unique_ptr<Pending> broadcast(const at::Tensor& values, int root) override {
    const ncclResult_t result = nccl().broadcast(values.data_ptr(), values.data_ptr(), count(values),
                                                 nccl_type(values), root, handle_->get(), stream());
    handle_->settle(result, "broadcast");
    return nullptr;
  }

  std::unique_ptr<Pending> exchange(const at::Tensor& sent, const at::Tensor& received, int peer) override {
    (void)nccl().group_start();
    (void)nccl().send(sent.data_ptr(), count(sent), nccl_type(sent), peer, handle_->get(), stream());
    (void)nccl().receive(received.data_ptr(), count(received), nccl_type(received), peer, handle_->get(),
                         stream());
    handle_->settle(nccl().group_end(), "exchange");
    return nullptr;
  }

  void barrier() override {
    const at::Tensor one =
        at::zeros({1}, at::TensorOptions(at::kFloat).device(c10::Device(c10::kCUDA, device_)));
    all_reduce(one, ReduceOperation::sum);
    check_cuda(cudaStreamSynchronize(stream()), "barrier");
  }

  SentByKind sent() const override { return {}; }
  Bytes workspace() const override { return {}; }  // counted by DeviceMemory::communication

 private:
  const NcclLibrary& nccl() const { return handle_->nccl(); }
  static std::size_t count(const at::Tensor& tensor) { return static_cast<std::size_t>(tensor.numel()); }
  cudaStream_t stream() const { return c10::cuda::getCurrentCUDAStream(device_).stream(); }

  std::shared_ptr<Handle> handle_;
  const int rank_, size_;
  const c10::DeviceIndex device_;
};

// Made by the group's first rank, read by all.
Result<ncclUniqueId> agree_on_id(const NcclLibrary& nccl, const NcclGroup& group, KeyValueStore& store,
                                 std::chrono::milliseconds timeout) {
  const std::string key = fmt::format("nccl/{}@{}", group.name, group.ranks.front());
  ncclUniqueId id{};
  if (group.rank != group.ranks.front()) {
    SHARDLAB_TRY(const std::string value, store.wait(key, timeout));
    if (value.size() != sizeof(id))
      return run_failed("NCCL", "the meeting point holds no unique id for " + key);
    std::memcpy(&id, value.data(), sizeof(id));
    return id;
  }
  if (const ncclResult_t result = nccl.get_unique_id(&id); result != ncclSuccess)
    return run_failed("NCCL", fmt::format("no unique id: {}", nccl.error_string(result)));
  SHARDLAB_CHECK_OK(store.set(key, std::string(reinterpret_cast<const char*>(&id), sizeof(id))));
  return id;
}

}  // namespace

Result<std::shared_ptr<Communicator>> make_nccl_communicator(const NcclLibrary& nccl, const NcclGroup& group,
                                                             c10::DeviceIndex device, KeyValueStore& store,
                                                             FailureWatch& watch,
                                                             std::chrono::milliseconds timeout) {
  SHARDLAB_TRY(const ncclUniqueId id, agree_on_id(nccl, group, store, timeout));
  const auto member = std::find(group.ranks.begin(), group.ranks.end(), group.rank);
  const int rank = static_cast<int>(member - group.ranks.begin());
  const int size = static_cast<int>(group.ranks.size());
  auto handle = std::make_shared<Handle>(nccl, group.name, timeout);
  try {
    const c10::cuda::CUDAGuard guard(device);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    handle->settle(nccl.init_rank(handle->place(), size, id, rank, &config), "connecting");
  } catch (const std::exception& error) {
    handle->abort();
    return run_failed(
        on_rank(group.rank, fmt::format("group {}", group.name)), first_line(error.what()),
        "NCCL_DEBUG=INFO in launch.environment shows what NCCL tries; launch.interface names the network");
  }
  watch.add({[handle] { return handle->broken(); }, [handle] { handle->abort(); }});
  return std::make_shared<NcclCommunicator>(handle, rank, size, device);
}

}  // namespace shardlab

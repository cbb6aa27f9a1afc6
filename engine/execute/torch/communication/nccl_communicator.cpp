#include "engine/execute/torch/communication/nccl_communicator.h"

#include <algorithm>
#include <stdexcept>

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "engine/execute/torch/step_failure.h"

namespace shardlab {
namespace {

nccl::Element nccl_element(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return nccl::Element::float32;
    case at::kBFloat16: return nccl::Element::bfloat16;
    case at::kHalf: return nccl::Element::float16;
    case at::kDouble: return nccl::Element::float64;
    case at::kInt: return nccl::Element::int32;
    case at::kLong: return nccl::Element::int64;
    case at::kByte: return nccl::Element::uint8;
    default:
      throw std::invalid_argument(
          fmt::format("NCCL has no type for {}", c10::toString(tensor.scalar_type())));
  }
}

nccl::Reduction nccl_reduction(ReduceOperation operation) {
  if (operation == ReduceOperation::maximum) return nccl::Reduction::maximum;
  return operation == ReduceOperation::average ? nccl::Reduction::average : nccl::Reduction::sum;
}

std::size_t count(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel());
}

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<NcclHandle> handle, NcclStreams streams, int rank, int size)
      : handle_(std::move(handle)), streams_(std::move(streams)), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Pending> all_gather(const at::Tensor& gathered, const at::Tensor& own) override {
    handle_->call("all-gather", [&](nccl::CommHandle communicator) {
      return nccl().all_gather(own.data_ptr(), gathered.data_ptr(), count(own), nccl_element(own),
                               communicator, streams_.current());
    });
    return nullptr;
  }

  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& own, const at::Tensor& full,
                                          ReduceOperation operation) override {
    handle_->call("reduce-scatter", [&](nccl::CommHandle communicator) {
      return nccl().reduce_scatter(full.data_ptr(), own.data_ptr(), count(own), nccl_element(own),
                                   nccl_reduction(operation), communicator, streams_.current());
    });
    return nullptr;
  }

  std::unique_ptr<Pending> all_reduce(const at::Tensor& values, ReduceOperation operation) override {
    handle_->call("all-reduce", [&](nccl::CommHandle communicator) {
      return nccl().all_reduce(values.data_ptr(), values.data_ptr(), count(values), nccl_element(values),
                               nccl_reduction(operation), communicator, streams_.current());
    });
    return nullptr;
  }

  std::unique_ptr<Pending> reduce(const at::Tensor& values, int root, ReduceOperation operation) override {
    handle_->call("reduce", [&](nccl::CommHandle communicator) {
      return nccl().reduce(values.data_ptr(), values.data_ptr(), count(values), nccl_element(values),
                           nccl_reduction(operation), root, communicator, streams_.current());
    });
    return nullptr;
  }

  std::unique_ptr<Pending> broadcast(const at::Tensor& values, int root) override {
    handle_->call("broadcast", [&](nccl::CommHandle communicator) {
      return nccl().broadcast(values.data_ptr(), values.data_ptr(), count(values), nccl_element(values), root,
                              communicator, streams_.current());
    });
    return nullptr;
  }

  // The group is closed whatever happens in it: one left open would swallow every later call of the thread.
  // So what throws, a dtype that NCCL has no name for, is asked before.
  std::unique_ptr<Pending> exchange(const at::Tensor& sent, const at::Tensor& received, int peer) override {
    const auto sent_element = nccl_element(sent), received_element = nccl_element(received);
    handle_->call("exchange", [&](nccl::CommHandle communicator) {
      nccl::Outcome outcome = nccl().group_start();
      if (outcome != nccl::Outcome::success) return outcome;
      outcome =
          nccl().send(sent.data_ptr(), count(sent), sent_element, peer, communicator, streams_.current());
      if (outcome == nccl::Outcome::success)
        outcome = nccl().receive(received.data_ptr(), count(received), received_element, peer, communicator,
                                 streams_.current());
      const nccl::Outcome ended = nccl().group_end();
      return outcome != nccl::Outcome::success ? outcome : ended;
    });
    return nullptr;
  }

  void barrier() override {
    const at::Tensor one = at::zeros({1}, at::TensorOptions(at::kFloat).device(streams_.device));
    all_reduce(one, ReduceOperation::sum);
    streams_.wait(streams_.current());
  }

  SentByKind sent() const override { return {}; }
  Bytes workspace() const override { return {}; }  // counted by DeviceMemory::communication

 private:
  const NcclLibrary& nccl() const { return handle_->nccl(); }

  const std::shared_ptr<NcclHandle> handle_;
  const NcclStreams streams_;
  const int rank_, size_;
};

// Made by the group's first rank, read by all.
Result<nccl::UniqueId> agree_on_id(const NcclLibrary& nccl, const NcclGroup& group, SharedValues& values,
                                   const FailureWatch& watch, std::chrono::milliseconds timeout) {
  const std::string key = fmt::format("nccl/{}@{}", group.name, group.ranks.front());
  nccl::UniqueId id;
  if (group.rank != group.ranks.front()) {
    SHARDLAB_TRY(const std::string value,
                 wait_unless_failed(values, key, timeout, [&] { return watch.failure(); }));
    if (value.size() != id.bytes.size())
      return run_failed("NCCL", "the meeting point holds no unique id for " + key);
    std::copy(value.begin(), value.end(), id.bytes.begin());
    return id;
  }
  if (const nccl::Outcome outcome = nccl.get_unique_id(&id); outcome != nccl::Outcome::success)
    return run_failed("NCCL", nccl_refusal(nccl, group.name, "making an id", outcome));
  SHARDLAB_CHECK_OK(values.set(key, std::string(id.bytes.begin(), id.bytes.end())));
  return id;
}

}  // namespace

Result<NcclConnection> make_nccl_communicator(const NcclLibrary& nccl, const NcclGroup& group,
                                              const NcclStreams& streams, SharedValues& values,
                                              FailureWatch& watch, const NcclPatience& patience) {
  NcclMember member;
  member.group = group.name;
  member.rank =
      static_cast<int>(std::find(group.ranks.begin(), group.ranks.end(), group.rank) - group.ranks.begin());
  member.size = static_cast<int>(group.ranks.size());
  member.enter = streams.enter;
  SHARDLAB_TRY(member.id, agree_on_id(nccl, group, values, watch, patience.connect));
  auto handle = NcclHandle::connect(nccl, member, patience, [&] { return watch.failure(); });
  if (!handle) {
    return run_failed(
        on_rank(group.rank, fmt::format("group {}", group.name)), handle.error().what,
        "NCCL_DEBUG=INFO in launch.environment shows what NCCL tries; launch.interface names the network");
  }
  watch.add(
      {[h = *handle] { return h->broken(); }, [h = *handle](const std::string& why) { h->abort(why); }});
  return NcclConnection{std::make_shared<NcclCommunicator>(*handle, streams, member.rank, member.size),
                        *handle};
}

void make_first_collectives(Communicator& communicator, c10::Device device) {
  constexpr std::int64_t k_small = 64, k_large = std::int64_t{2} << 20;  // float32 elements, of all members
  for (const std::int64_t elements : {k_small, k_large}) {
    const std::int64_t own_elements = (elements + communicator.size() - 1) / communicator.size();
    const at::Tensor full =
        at::zeros({own_elements * communicator.size()}, at::TensorOptions(at::kFloat).device(device));
    const at::Tensor own = full.narrow(0, own_elements * communicator.rank(), own_elements);
    (void)communicator.all_gather(full, own);
    (void)communicator.reduce_scatter(own, full, ReduceOperation::average);
    (void)communicator.all_reduce(full, ReduceOperation::sum);
    (void)communicator.broadcast(full, 0);
  }
}

Status compare_nccl_versions(const NcclLibrary& nccl, int rank, SharedValues& values,
                             const FailureWatch& watch, std::chrono::milliseconds timeout) {
  const std::string mine = nccl_version_text(nccl.version);
  if (rank == 0) return values.set("nccl/version", mine);
  SHARDLAB_TRY(const std::string first,
               wait_unless_failed(values, "nccl/version", timeout, [&] { return watch.failure(); }));
  if (first == mine) return {};
  return run_failed(
      on_rank(rank), fmt::format("has NCCL {}, rank 0 has {}", mine, first),
      "all machines must have the same version; SHARDLAB_NCCL_LIBRARY names the library to use");
}

}  // namespace shardlab

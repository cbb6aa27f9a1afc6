// Collectives by direct exchange: every rank sends each peer exactly what that peer needs.
//
// Gloo's own collectives through c10d copy through flat temporaries, and its reduce-scatter is an all-reduce
// that throws most of the result away. Direct exchange moves (size - 1) / size of the full side, the least
// possible, in place, and adds the contributions in the order of the ranks: every rank gets the same bits,
// run after run. It opens size - 1 messages at once, which suits the few ranks of a CPU run.
#include "engine/execute/torch/communication/transport.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include <ATen/ops/empty.h>

#include "engine/execute/torch/communication/background_worker.h"
#include "engine/execute/torch/communication/sum_parts.h"

namespace shardlab {

namespace {

class TransportCommunicator : public Communicator {
 public:
  explicit TransportCommunicator(std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)), rank_(transport_->rank()), size_(transport_->size()) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Pending> all_gather(const at::Tensor& gathered, const at::Tensor& own) override {
    return submit(K::AllGather, [this, gathered, own] { gather(gathered, own); });
  }

  std::unique_ptr<Pending> reduce_scatter(const at::Tensor& own, const at::Tensor& full,
                                          ReduceOperation operation) override {
    return submit(K::ReduceScatter, [this, own, full, operation] {
      std::vector<at::Tensor> parts;
      for (int peer = 0; peer < size_; ++peer)
        parts.push_back(full.narrow(0, peer * own.numel(), own.numel()));
      reduce_parts(own, parts, operation);
    });
  }

  std::unique_ptr<Pending> all_reduce(const at::Tensor& values, ReduceOperation operation) override {
    return submit(K::AllReduce, [this, values, operation] {
      std::vector<at::Tensor> parts;
      for (int peer = 0; peer < size_; ++peer) parts.push_back(part_of(values, peer));
      reduce_parts(parts[rank_index()], parts, operation);
      exchange_parts(parts);
    });
  }

  std::unique_ptr<Pending> reduce(const at::Tensor& values, int root, ReduceOperation operation) override {
    return submit(K::Reduce, [this, values, root, operation] {
      std::vector<at::Tensor> parts(static_cast<std::size_t>(size_), values.narrow(0, 0, 0));
      parts[static_cast<std::size_t>(root)] = values;
      reduce_parts(parts[rank_index()], parts, operation);
    });
  }

  std::unique_ptr<Pending> broadcast(const at::Tensor& values, int root) override {
    return submit(K::Broadcast, [this, values, root] {
      std::vector<Message> sends, receives;
      if (rank_ != root) receives.push_back({root, values});
      for (int peer = 0; rank_ == root && peer < size_; ++peer) {
        if (peer != root) sends.push_back({peer, values});
      }
      exchange(sends, receives);
    });
  }

  std::unique_ptr<Pending> exchange(const at::Tensor& sent, const at::Tensor& received, int peer) override {
    return submit(K::AllToAll, [this, sent, received, peer] {
      exchange(std::vector<Message>{{peer, sent}}, std::vector<Message>{{peer, received}});
    });
  }

  void barrier() override { all_reduce(at::empty({1}).fill_(0), ReduceOperation::sum)->wait(); }

  Bytes workspace() const override { return {workspace_bytes_}; }

  SentByKind sent() const override {
    const std::lock_guard lock(sent_mutex_);
    return sent_;
  }

 private:
  using K = InstructionKind;

  template <typename Operation>
  std::unique_ptr<Pending> submit(K kind, Operation operation) {
    return worker_.submit([this, kind, operation] {
      sending_ = {1, {}};
      operation();
      const std::lock_guard lock(sent_mutex_);
      Sent& sent = sent_[kind];
      sent.operations += sending_.operations;
      sent.bytes += sending_.bytes;
    });
  }

  void exchange(const std::vector<Message>& sends, const std::vector<Message>& receives) {
    for (const Message& message : sends)
      sending_.bytes += Bytes{static_cast<std::int64_t>(message.data.nbytes())};
    transport_->exchange(sends, receives);
  }

  std::size_t rank_index() const { return static_cast<std::size_t>(rank_); }

  void gather(const at::Tensor& gathered, const at::Tensor& own) {
    std::vector<at::Tensor> parts;
    for (int peer = 0; peer < size_; ++peer)
      parts.push_back(gathered.narrow(0, peer * own.numel(), own.numel()));
    at::Tensor& mine = parts[rank_index()];
    if (mine.data_ptr() != own.data_ptr()) mine.copy_(own);
    exchange_parts(parts);
  }

  // Everybody sends its own part to all and receives the others' in place.
  void exchange_parts(const std::vector<at::Tensor>& parts) {
    std::vector<Message> sends, receives;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      receives.push_back({peer, parts[static_cast<std::size_t>(peer)]});
      sends.push_back({peer, parts[rank_index()]});
    }
    exchange(sends, receives);
  }

  // result = sum over ranks of their parts[rank_]; may be parts[rank_] itself.
  void reduce_parts(const at::Tensor& result, const std::vector<at::Tensor>& parts,
                    ReduceOperation operation) {
    const at::Tensor& mine = parts[rank_index()];
    const std::int64_t elements = mine.numel();
    const at::Tensor space = workspace_for(elements * (size_ - 1), mine.options());
    std::vector<Message> sends, receives;
    std::vector<at::Tensor> contributions;
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) {
        contributions.push_back(mine);
        continue;
      }
      contributions.push_back(
          space.narrow(0, static_cast<std::int64_t>(receives.size()) * elements, elements));
      receives.push_back({peer, contributions.back()});
      sends.push_back({peer, parts[static_cast<std::size_t>(peer)]});
    }
    exchange(sends, receives);
    if (operation == ReduceOperation::maximum) return max_parts(result, contributions);
    sum_parts(result, contributions, operation == ReduceOperation::average ? 1.0 / size_ : 1.0);
  }

  at::Tensor part_of(const at::Tensor& values, int peer) const {
    const std::int64_t begin = values.numel() * peer / size_;
    return values.narrow(0, begin, values.numel() * (peer + 1) / size_ - begin);
  }

  // Kept between operations: they run one at a time.
  at::Tensor workspace_for(std::int64_t elements, const at::TensorOptions& options) {
    const std::int64_t bytes = elements * static_cast<std::int64_t>(options.dtype().itemsize());
    if (!workspace_.defined() || workspace_.numel() < bytes)
      workspace_ = at::empty({bytes}, options.dtype(at::kByte));
    workspace_bytes_ = workspace_.numel();
    return workspace_.narrow(0, 0, bytes).view(c10::typeMetaToScalarType(options.dtype()));
  }

  std::unique_ptr<Transport> transport_;
  const int rank_, size_;
  at::Tensor workspace_;  // used by the worker alone
  Sent sending_;          // by the operation that runs; likewise
  mutable std::mutex sent_mutex_;
  SentByKind sent_;
  std::atomic<std::int64_t> workspace_bytes_{0};
  BackgroundWorker worker_;  // last: its operations use what stands above
};

}  // namespace

std::shared_ptr<Communicator> make_communicator(std::unique_ptr<Transport> transport) {
  return std::make_shared<TransportCommunicator>(std::move(transport));
}

}  // namespace shardlab

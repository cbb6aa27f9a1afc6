#include "engine/execute/torch/communication/gloo_transport.h"

#include <vector>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace shardlab {
namespace {

class GlooTransport : public Transport {
 public:
  explicit GlooTransport(c10::intrusive_ptr<c10d::ProcessGroupGloo> group)
      : group_(std::move(group)), sent_(peers()), received_(peers()) {}

  int rank() const override { return group_->getRank(); }
  int size() const override { return group_->getSize(); }

  void exchange(std::span<const Message> sends, std::span<const Message> receives) override {
    std::vector<c10::intrusive_ptr<c10d::Work>> works;
    works.reserve(sends.size() + receives.size());
    for (const Message& message : receives) {
      if (message.data.numel() == 0) continue;
      std::vector<at::Tensor> tensors{message.data};
      works.push_back(group_->recv(tensors, message.peer, next_tag(received_, message.peer)));
    }
    for (const Message& message : sends) {
      if (message.data.numel() == 0) continue;
      std::vector<at::Tensor> tensors{message.data};
      works.push_back(group_->send(tensors, message.peer, next_tag(sent_, message.peer)));
    }
    for (const auto& work : works) work->wait();
  }

 private:
  std::size_t peers() const { return static_cast<std::size_t>(group_->getSize()); }

  // The k-th message to a peer meets the k-th from here, whoever else exchanges in between; wraps long after
  // any earlier message with the same tag has been consumed.
  static int next_tag(std::vector<std::uint32_t>& messages, int peer) {
    return static_cast<int>(++messages[static_cast<std::size_t>(peer)] & 0x3fffffff);
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::vector<std::uint32_t> sent_, received_;  // messages, by peer
};

}  // namespace

std::unique_ptr<Transport> make_gloo_transport(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                               int size, const GlooOptions& options) {
  using Gloo = c10d::ProcessGroupGloo;
  auto gloo = Gloo::Options::create(options.timeout);
  if (!options.interface.empty()) {
    gloo->devices.push_back(Gloo::createDeviceForInterface(options.interface));
  } else if (!options.address.empty()) {
    gloo->devices.push_back(Gloo::createDeviceForHostname(options.address));
  } else {
    gloo->devices.push_back(Gloo::createDefaultDevice());
  }
  gloo->threads = 1;  // Gloo's workers run its own collectives, of which none is used
  return std::make_unique<GlooTransport>(c10::make_intrusive<Gloo>(store, rank, size, gloo));
}

}  // namespace shardlab

// Messages between two ranks of a group: what collectives are made of.
#pragma once

#include <memory>
#include <span>

#include <ATen/core/Tensor.h>

namespace shardlab {

struct Message {
  int peer = 0;
  at::Tensor data;  // flat; sent from here, or received here
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sends and receives all messages at once; returns when every one has arrived or left. Between two ranks
  // the k-th call of one meets the k-th call of the other. Throws when a peer is gone or does not answer in
  // time.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;
};

// Collectives over a transport, in a thread of their own.
class Communicator;
std::shared_ptr<Communicator> make_communicator(std::unique_ptr<Transport> transport);

}  // namespace shardlab

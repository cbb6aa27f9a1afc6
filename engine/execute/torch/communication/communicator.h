// Collectives of one group of ranks, asynchronous.
//
// Every member issues the same operations in the same order; they run one after the other in the background
// (a thread for Gloo, a stream for NCCL). Tensors are flat and contiguous and must stay alive until the
// operation is done. A lost or late peer makes wait() throw; so does any defect of the library. One
// communicator is used by one thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>

#include "engine/base/units.h"
#include "engine/execute/machine.h"
#include "engine/execute/streams/pending.h"
#include "engine/plan/group.h"
#include "engine/plan/instruction.h"

namespace shardlab {

struct Sent {
  std::int64_t operations = 0;
  Bytes bytes;
};
using SentByKind = std::map<InstructionKind, Sent>;

class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  virtual int rank() const = 0;  // within the group
  virtual int size() const = 0;

  // `gathered` is size() times `own`, rank by rank. `own` may be this rank's part of `gathered` itself.
  virtual std::unique_ptr<Pending> all_gather(const at::Tensor& gathered, const at::Tensor& own) = 0;
  // `full` is size() times `own`; `own` receives this rank's part of the sum (or average) over ranks.
  virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& own, const at::Tensor& full,
                                                  ReduceOperation operation) = 0;
  // In place.
  virtual std::unique_ptr<Pending> all_reduce(const at::Tensor& values, ReduceOperation operation) = 0;
  // In place on the rank `root`; what others are left with is undefined.
  virtual std::unique_ptr<Pending> reduce(const at::Tensor& values, int root, ReduceOperation operation) = 0;
  virtual std::unique_ptr<Pending> broadcast(const at::Tensor& values, int root) = 0;

  // Sends a tensor to a peer and receives one of the same size from it; no two tensors share memory. Only the
  // two call it.
  virtual std::unique_ptr<Pending> exchange(const at::Tensor& sent, const at::Tensor& received, int peer) = 0;

  // Blocks until all members have come here.
  virtual void barrier() = 0;

  // What this rank has sent to others since the communicator was made, by kind of operation. Complete for
  // operations that were waited for.
  virtual SentByKind sent() const = 0;

  // Most bytes that operations have needed at once besides the tensors they were given.
  virtual Bytes workspace() const = 0;
};

using Communicators = std::map<RankSet, std::shared_ptr<Communicator>>;

}  // namespace shardlab

// Collectives of one group over NCCL, enqueued on the stream in use.
//
// Operations return null instead of a Pending: they are done when the stream has come to them. What is sent
// is not counted: NCCL does not tell. Knows no CUDA: whose streams these are is the NcclStreams', the
// device's of a rank or of a test that has a library in NCCL's place (tests/nccl_stand_in).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "engine/base/result.h"
#include "engine/execute/nccl/nccl_handle.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/watch/failure_watch.h"
#include "engine/execute/watch/shared_values.h"

namespace shardlab {

struct NcclStreams {
  c10::Device device = c10::kCPU;          // where tensors lie
  std::function<nccl::Stream()> current;   // that the calling thread issues to
  std::function<void(nccl::Stream)> wait;  // the host waits for the stream; may throw
  std::function<void()> enter;             // makes the device the calling thread's; may be empty
};

struct NcclGroup {
  std::string name;
  std::vector<int> ranks;  // of the world, ascending
  int rank = 0;            // of the world, one of them
};

// A communicator, and its handle to close when all has ended well.
struct NcclConnection {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<NcclHandle> handle;
};

// All members call it. run_failed when the peers do not come in time, NCCL refuses, or the watch finds
// something. The watch, which aborts the communicator on a failure, must outlive it.
Result<NcclConnection> make_nccl_communicator(const NcclLibrary& nccl, const NcclGroup& group,
                                              const NcclStreams& streams, SharedValues& values,
                                              FailureWatch& watch, const NcclPatience& patience);

// A small and a large one of every kind, each awaited by nobody: NCCL (2.22 and newer) connects an algorithm,
// and takes memory for it, when it is first used. All members call it.
void make_first_collectives(Communicator& communicator, c10::Device device);

// The version of rank 0's library is every rank's: another one would hang the others or add wrongly. All
// ranks call it. run_failed names both versions.
Status compare_nccl_versions(const NcclLibrary& nccl, int rank, SharedValues& values,
                             const FailureWatch& watch, std::chrono::milliseconds timeout);

}  // namespace shardlab

// Collectives of one group over NCCL, enqueued on the current CUDA stream.
//
// Operations return null instead of a Pending: they are done when the stream has come to them. Communicators
// do not block (ncclConfig_t::blocking = 0), so that a lost peer cannot hold the host; a call that NCCL
// cannot take at once is waited for until the deadline. What is sent is not counted: NCCL does not tell.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "engine/base/result.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/communication/key_value_store.h"
#include "engine/execute/torch/cuda/failure_watch.h"
#include "engine/execute/torch/cuda/nccl_library.h"

namespace shardlab {

struct NcclGroup {
  std::string name;
  std::vector<int> ranks;  // of the world, ascending
  int rank = 0;            // of the world, one of them
};

// All members call it. run_failed when the peers do not come within the timeout, or NCCL refuses. The watch
// must outlive the communicator.
Result<std::shared_ptr<Communicator>> make_nccl_communicator(const NcclLibrary& nccl, const NcclGroup& group,
                                                             c10::DeviceIndex device, KeyValueStore& store,
                                                             FailureWatch& watch,
                                                             std::chrono::milliseconds timeout);

}  // namespace shardlab

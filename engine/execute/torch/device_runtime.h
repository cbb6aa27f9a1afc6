// What a rank computes on, as its session needs it: the executor's backend, collectives, what is told of it.
//
// The host's is host/host_runtime.h, CUDA's is in cuda/; a build without CUDA has no_cuda/, which says so.
// The rank's program links one of the last two.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/execute/torch/communication/rendezvous.h"
#include "engine/execute/torch/execution_backend.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/trace/device_memory.h"

namespace shardlab {

struct DeviceRequest {
  RankEnvironment environment;
  MemoryLedger ledger;                         // in which the device's blocks are booked
  std::chrono::milliseconds timeout{600'000};  // for what the device or a peer may take
  Bytes memory_limit;                          // that may be used; zero: what there is
  bool history = false;                        // the allocator writes down every event, for save_history()
};

class DeviceRuntime {
 public:
  DeviceRuntime() = default;
  DeviceRuntime(const DeviceRuntime&) = delete;
  DeviceRuntime& operator=(const DeviceRuntime&) = delete;
  virtual ~DeviceRuntime() = default;

  virtual std::shared_ptr<ExecutionBackend> backend() = 0;
  // Collectives on this device, one communicator a group. All ranks call it, with the groups in one order.
  virtual Result<Communicators> connect(const Rendezvous& rendezvous,
                                        const std::vector<RankGroup>& groups) = 0;
  // "NVIDIA H200", or the processor.
  virtual std::string name() const = 0;
  // Driver, CUDA, NCCL: ranks that do not agree cannot train together. Empty on a host.
  virtual std::map<std::string, std::string> versions() const = 0;
  // Since the start, up to the last end of a step; none on a host, whose memory the ledger knows.
  virtual std::optional<DeviceMemory> memory() const = 0;
  // A step is over, outside the time that is measured: the device's memory is read.
  virtual void end_step() = 0;
  // Tells the other ranks why this one ends; they would wait for it otherwise. Waits for a few seconds at
  // most.
  virtual void report(const std::string& what) = 0;
  // All ranks have ended well: nobody waits for this one, and communicators are taken apart. Not after a
  // failure, when that could wait for a peer that is gone.
  virtual void finish() = 0;
  // The allocator's history as the file that PyTorch's memory viewer opens
  // (torch.cuda.memory._dump_snapshot). not_possible where no allocator keeps one.
  virtual Status save_history(const std::filesystem::path& path) const = 0;
};

// The rank's GPU. not_possible when there is none here, and then says what there is.
Result<std::unique_ptr<DeviceRuntime>> make_device_runtime(const DeviceRequest& request);

}  // namespace shardlab

// Where a rank is: its device and the other ranks. What every kind of job begins with.
#pragma once

#include <memory>

#include "engine/execute/rank_job.h"
#include "engine/execute/spool.h"
#include "engine/execute/torch/device_runtime.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct RankPlace {
  const RankJob& job;
  const RankEnvironment& environment;
  MemoryLedger ledger;  // of the device's blocks and of tensors
  Rendezvous rendezvous;
  std::unique_ptr<DeviceRuntime> device;
};

using OpenDevice = Result<std::unique_ptr<DeviceRuntime>> (*)(const DeviceRequest&);

// Opens the device before the others are met: who has none says so at once and nobody waits for it. That is
// the host, or what `open_device` opens where the scenario asks for GPUs. `folder` is the run's, in which
// they find each other. Job and environment must outlive the place. Errors: those of open_device; run_failed
// when a rank does not come.
Result<RankPlace> meet_ranks(const RankJob& job, const std::filesystem::path& folder,
                             const Scenario& scenario, const RankEnvironment& environment,
                             OpenDevice open_device);

// The beginning of this rank's spool.
SpoolHeader spool_header(const RankPlace& place, std::int64_t steps);

}  // namespace shardlab

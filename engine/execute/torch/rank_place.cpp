#include "engine/execute/torch/rank_place.h"

#include <torch/version.h>

#include "engine/execute/collective_timeout.h"
#include "engine/execute/machine.h"
#include "engine/execute/torch/host/host_backend.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"

namespace shardlab {
namespace {

DeviceRequest device_request(const RankJob& job, const Scenario& scenario, const RankEnvironment& environment,
                             const MemoryLedger& ledger) {
  DeviceRequest request;
  request.environment = environment;
  request.ledger = ledger;
  request.timeout = collective_timeout(scenario);
  request.memory_limit = scenario.cluster->memory_limit.value_or(Bytes{});
  request.history = !job.extras.memory_snapshot.empty() && environment.rank == 0;
  return request;
}

// The rank's GPU when the scenario asks for GPUs, else its host.
Result<std::unique_ptr<DeviceRuntime>> open_runtime(const DeviceRequest& request, const Scenario& scenario,
                                                    OpenDevice open_device) {
  if (scenario.cluster->device == DeviceKind::cpu) return make_host_runtime(request);
  return open_device(request);
}

}  // namespace

Result<RankPlace> meet_ranks(const RankJob& job, const std::filesystem::path& folder,
                             const Scenario& scenario, const RankEnvironment& environment,
                             OpenDevice open_device) {
  const MemoryLedger ledger;
  SHARDLAB_TRY(auto device,
               open_runtime(device_request(job, scenario, environment, ledger), scenario, open_device));
  RendezvousOptions meeting;
  meeting.run_directory = folder;
  meeting.arrival_timeout = arrival_timeout(scenario);
  meeting.operation_timeout = collective_timeout(scenario);
  meeting.interface = scenario.launch->interface;
  if (environment.world == 1)
    return RankPlace{job, environment, ledger, Rendezvous::in_process(meeting), std::move(device)};
  SHARDLAB_TRY(Rendezvous rendezvous, Rendezvous::connect(environment, meeting));
  return RankPlace{job, environment, ledger, std::move(rendezvous), std::move(device)};
}

SpoolHeader spool_header(const RankPlace& place, std::int64_t steps) {
  SpoolHeader header;
  header.rank = place.environment.rank;
  header.world = place.environment.world;
  header.run_hash = place.job.run_hash;
  header.host = host_identity();
  header.machine = place.device->name();
  header.versions = software_versions();
  header.versions["torch"] = TORCH_VERSION;
  for (const auto& [name, version] : place.device->versions()) header.versions[name] = version;
  header.steps = steps;
  return header;
}

}  // namespace shardlab

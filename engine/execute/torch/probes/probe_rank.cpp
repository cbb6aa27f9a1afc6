#include "engine/execute/torch/probes/probe_rank.h"

#include <numeric>

#include "engine/base/output_file.h"
#include "engine/execute/torch/probes/run_probes.h"
#include "engine/execute/torch/world.h"

namespace shardlab {
namespace {

// Everybody; nobody where a rank is alone.
std::vector<RankGroup> group_of_all(int world) {
  if (world == 1) return {};
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {{RankSet{}, std::move(ranks)}};
}

Status measure(const RankPlace& place, const std::filesystem::path& folder, const World& world) {
  ProbePlace where{world.communicator(), world.communicator(), nullptr};
  const std::shared_ptr<ExecutionBackend> backend = place.device->backend();
  Communicators on_device;
  if (backend->arithmetic() == Arithmetic::device) {
    SHARDLAB_TRY(on_device, place.device->connect(place.rendezvous, group_of_all(place.environment.world)));
    where.backend = backend.get();
    where.data = on_device.empty() ? nullptr : on_device.begin()->second.get();
  }
  SHARDLAB_TRY(OutputFile results, OutputFile::create(probe_results_path(folder, place.environment.rank)));
  SHARDLAB_CHECK_OK(run_probes(where, place.job.probes, [&](const ProbeMeasurement& measurement) {
    return results.write(probe_line(measurement) + "\n");
  }));
  return results.finish();
}

}  // namespace

Status probe_rank(const RankPlace& place, const std::filesystem::path& folder, SpoolWriter& spool) {
  SHARDLAB_TRY(const World world, World::connect(place.rendezvous, place.environment));
  SHARDLAB_CHECK_OK(spool.write(spool_header(place, 0)));
  SHARDLAB_CHECK_OK(measure(place, folder, world));
  SHARDLAB_CHECK_OK(spool.write(SpoolEnd{}));
  return world.align("the end");  // whoever passes here knows that all results are complete
}

}  // namespace shardlab

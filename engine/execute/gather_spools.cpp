#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/folder.h"
#include "engine/execute/launch.h"
#include "engine/execute/run_steps.h"
#include "engine/execute/spool.h"

namespace shardlab {
namespace {

// Places the ranks' steps on one clock. Ranks of one host share its clock; between hosts, leaving the barrier
// before the step is taken as the same moment for the first rank of each.
void set_offsets(const std::vector<Spool>& spools, std::size_t index, StepTrace& trace) {
  std::map<std::string, Nanoseconds> zero;  // by host
  for (const Spool& spool : spools) zero.emplace(spool.header->host, spool.steps[index].aligned);
  Nanoseconds earliest{INT64_MAX};
  for (std::size_t rank = 0; rank < spools.size(); ++rank) {
    Nanoseconds& offset = trace.ranks[rank].start_offset;
    offset = spools[rank].steps[index].began - zero.at(spools[rank].header->host);
    earliest = std::min(earliest, offset);
  }
  for (RankTrace& rank : trace.ranks) rank.start_offset -= earliest;
}

Status check_spool(const Spool& spool, int rank, const std::string& hash, const std::filesystem::path& path) {
  if (spool.error) return fail(*spool.error);
  if (!spool.header || spool.header->rank != rank || spool.header->run_hash != hash) {
    return bad_input(in_file(path.string()), "is not of this run", "use a fresh run directory");
  }
  if (!spool.end) {
    return run_failed(in_file(path.string()), fmt::format("rank {} did not finish; it made {} of {} steps",
                                                          rank, spool.steps.size(), spool.header->steps));
  }
  return {};
}

// Each field's highest of all ranks.
std::optional<DeviceMemory> highest_device_memory(const std::vector<Spool>& spools) {
  std::optional<DeviceMemory> highest;
  for (const Spool& spool : spools) {
    if (!spool.end->device_memory) continue;
    if (!highest) highest.emplace();
    const DeviceMemory& rank = *spool.end->device_memory;
    for (const auto field :
         {&DeviceMemory::requested, &DeviceMemory::allocated, &DeviceMemory::active, &DeviceMemory::reserved,
          &DeviceMemory::inactive_split, &DeviceMemory::library_workspace, &DeviceMemory::context,
          &DeviceMemory::communication, &DeviceMemory::device_peak}) {
      (*highest).*field = std::max((*highest).*field, rank.*field);
    }
    highest->retries = std::max(highest->retries, rank.retries);
    highest->out_of_memory = std::max(highest->out_of_memory, rank.out_of_memory);
  }
  return highest;
}

// All ranks call the same operators.
std::vector<OperatorTime> mean_operator_times(const std::vector<Spool>& spools) {
  std::vector<OperatorTime> mean = spools.front().end->operators;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    for (std::size_t rank = 1; rank < spools.size(); ++rank) {
      const std::vector<OperatorTime>& others = spools[rank].end->operators;
      if (i < others.size()) mean[i].time += others[i].time;
    }
    mean[i].time = mean[i].time / static_cast<std::int64_t>(spools.size());
  }
  return mean;
}

Provenance provenance_of(const std::vector<Spool>& spools) {
  const SpoolHeader& header = *spools.front().header;
  Provenance provenance;
  provenance.kind = RunKind::measured;
  provenance.machine = header.machine;
  provenance.versions = header.versions;
  Bytes workspace;
  for (const Spool& spool : spools) workspace = std::max(workspace, spool.end->communication_workspace);
  provenance.leaves_out = {
      fmt::format("memory of the communication library: {} a rank at most", to_string(workspace)),
      "memory that libraries take for themselves (oneDNN, MKL, the heap's reserve)",
  };
  return provenance;
}

// The spools of all ranks, once the ranks have ended well.
Result<std::vector<Spool>> read_spools(int world, const std::string& hash,
                                       const std::filesystem::path& run_directory) {
  std::vector<Spool> spools;
  std::vector<int> missing;
  for (int rank = 0; rank < world; ++rank) {
    const std::filesystem::path path = spool_path(run_directory, rank);
    auto spool = read_spool(path);
    if (!spool && is_of_the_machine(spool.error())) {
      spool.error().hint =
          fmt::format("the ranks have finished: `shardlab import {}` stores the run", run_directory.string());
      return fail(std::move(spool).error());
    }
    if (!spool && is_there(path).value_or(false)) return fail(std::move(spool).error());
    if (!spool) {
      missing.push_back(rank);
      continue;
    }
    SHARDLAB_CHECK_OK(check_spool(*spool, rank, hash, path));
    spools.push_back(*std::move(spool));
  }
  if (!missing.empty()) {
    return run_failed(in_file(run_directory.string()),
                      fmt::format("the records of rank {} are not here", fmt::join(missing, ", ")),
                      "ranks on other machines must share this folder");
  }
  return spools;
}

}  // namespace

Result<ProbeRun> gather_probes(const Scenario& scenario, const std::filesystem::path& run_directory) {
  const int world = world_size(scenario);
  SHARDLAB_TRY(const std::vector<Spool> spools, read_spools(world, "", run_directory));
  ProbeRun run{spools.front().header->machine, spools.front().header->versions, {}};
  for (int rank = 0; rank < world; ++rank) {
    SHARDLAB_TRY(const std::vector<ProbeMeasurement> measured,
                 read_probe_results(probe_results_path(run_directory, rank)));
    run.measurements.insert(run.measurements.end(), measured.begin(), measured.end());
  }
  return run;
}

Result<RunTrace> gather_spools(const PlannedScenario& planned, const std::filesystem::path& run_directory) {
  const int world = world_size(planned.scenario);
  SHARDLAB_TRY(const std::vector<Spool> spools, read_spools(world, run_hash(planned.plan), run_directory));
  RunTrace run;
  run.provenance = provenance_of(spools);
  run.device_memory = highest_device_memory(spools);
  run.operators = mean_operator_times(spools);
  const std::int64_t warmup = warmup_steps(planned);
  std::map<const StepPlan*, std::string> hashes;
  for (const StepPlan* plan : planned.plan.all()) hashes[plan] = plan_hash(*plan);
  for (std::size_t i = 0; i < spools.front().steps.size(); ++i) {
    StepTrace trace;
    trace.step = spools.front().steps[i].step;
    trace.plan_hash = hashes.at(&planned.plan.step(trace.step));
    for (const Spool& spool : spools) {
      if (spool.steps.size() <= i)
        return run_failed(in_file(run_directory.string()), "the ranks made different numbers of steps");
      trace.ranks.push_back(spool.steps[i].trace);
    }
    set_offsets(spools, i, trace);
    const SpoolStep& step = spools.front().steps[i];
    if (step.mean_loss) run.losses.push_back(*step.mean_loss);
    if (step.trace.gradient_norm) run.gradient_norms.push_back(*step.trace.gradient_norm);
    (trace.step < warmup ? run.warmup : run.steps).push_back(std::move(trace));
  }
  return run;
}

std::optional<OutOfMemory> find_out_of_memory(const PlannedScenario& planned,
                                              const std::filesystem::path& run_directory) {
  for (int rank = 0; rank < world_size(planned.scenario); ++rank) {
    const auto spool = read_spool(spool_path(run_directory, rank));
    if (spool && spool->out_of_memory) return spool->out_of_memory;
  }
  return std::nullopt;
}

Provenance provenance_of_unfinished(const PlannedScenario& planned,
                                    const std::filesystem::path& run_directory) {
  Provenance provenance;
  provenance.kind = RunKind::measured;
  for (int rank = 0; rank < world_size(planned.scenario); ++rank) {
    const auto spool = read_spool(spool_path(run_directory, rank));
    if (!spool || !spool->header) continue;
    provenance.machine = spool->header->machine;
    provenance.versions = spool->header->versions;
    break;
  }
  return provenance;
}

}  // namespace shardlab

// A model is made, filled and sharded. On meta nothing exists before its shards do. On processors every rank
// makes the whole model in host memory, or with rank0_broadcast rank 0 alone; units then go to the device one
// after the other, the root last, each whole until it is sharded (FSDP1: device_id and sync_module_states;
// FSDP2: fully_shard on a model in host memory).
#include <fmt/format.h>

#include <algorithm>

#include "engine/scenario/model_spec.h"
#include "engine/scenario/parallel_spec.h"
#include "simulator/memory/life/life_rows.h"

namespace shardlab {
namespace {

Initialization way_of(const JobState& job) {
  return job.planned.scenario.parallel->initialization;
}

// Whole models in the host memory of the node with most.
int models_in_host(const JobState& job) {
  switch (way_of(job)) {
    case Initialization::meta: return 0;
    case Initialization::cpu: return job.ranks_per_node;
    case Initialization::rank0_broadcast: return 1;
  }
  return 0;
}

std::string models_text(const JobState& job) {
  const int models = models_in_host(job);
  if (models == 0) return "parameters on the meta device";
  return fmt::format("host: {} x {} of parameters", models, to_string(job.model));
}

PhaseMemory construct(const JobState& job) {
  return {.phase = LifePhase::construct,
          .host = job.processes + job.model * models_in_host(job),
          .asked = true,
          .runs = way_of(job) == Initialization::meta,
          .formula = models_text(job)};
}

// Each rank reads what it keeps, a tensor at a time, or the models that stand in host memory are filled.
PhaseMemory load(const JobState& job) {
  const bool on_meta = way_of(job) == Initialization::meta;
  const Bytes setup = peak_of(job.predicted.warmup.front());
  const Bytes host = on_meta ? job.largest_tensor * job.ranks_per_node : job.model * models_in_host(job);
  return {.phase = LifePhase::load,
          .device = on_meta ? setup : Bytes{},
          .host = job.processes + host,
          .asked = !job.planned.scenario.model->weights.empty(),
          .runs = on_meta,
          .formula = on_meta ? fmt::format("host: {} x the largest tensor, {}", job.ranks_per_node,
                                           to_string(job.largest_tensor))
                             : models_text(job) + ", filled from the file"};
}

PhaseMemory shard(const JobState& job) {
  const bool on_meta = way_of(job) == Initialization::meta;
  const Bytes setup = peak_of(job.predicted.warmup.front());
  return {.phase = LifePhase::shard,
          .device = setup + (on_meta ? Bytes{} : job.largest_unit),
          .host = job.processes + job.model * models_in_host(job),
          .asked = true,
          .runs = on_meta,
          .formula =
              on_meta ? "the setup's plan"
                      : fmt::format("the setup's plan + the largest unit, {}", to_string(job.largest_unit))};
}

}  // namespace

std::vector<PhaseMemory> construction_phases(const JobState& job) {
  return {construct(job), load(job), shard(job)};
}

}  // namespace shardlab

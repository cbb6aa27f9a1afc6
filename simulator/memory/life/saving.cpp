// Checkpoints: parameters and the optimizer's state.
//
// Full (torch 2.11, distributed/checkpoint/state_dict.py and fsdp/_state_dict_utils.py): the parameters are
// gathered and kept on the device, or moved to the host before the next is gathered (offload_to_cpu); the
// optimizer's state likewise. What is gathered by parameter is kept as it is; FSDP1 gathers a unit and copies
// its parameters, so that one unit stands beside them. Without sharding nothing is gathered: a file is
// written a tensor at a time.
//
// Sharded: each rank writes its own (distributed/checkpoint/filesystem.py), a tensor at a time. FSDP1 gathers
// each unit for it all the same and copies the rank's part out of it (_sharded_post_state_dict_hook,
// _convert_all_state_info): at the last unit its own copies are beside the unit and the buffer that went into
// the gather.
//
// Resuming from a full one: the reading ranks have the whole file in host memory (torch.load), the others get
// their part a tensor at a time.
#include <fmt/format.h>

#include <algorithm>

#include "engine/scenario/mesh.h"
#include "engine/scenario/run_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/scenario/train_spec.h"
#include "simulator/memory/life/life_rows.h"

namespace shardlab {
namespace {

bool saves(const JobState& job) {
  return job.planned.scenario.train->save.every > 0;
}

const CheckpointSpec& spec_of(const JobState& job) {
  return *job.planned.scenario.checkpoint;
}

Bytes state_of(const JobState& job) {
  return job.student + job.optimizer;
}

bool saves_by_parameter(const JobState& job) {
  return facts_of(job.planned.scenario).saves_by_parameter;
}

// What is on the device only while it is gathered, where what was gathered goes elsewhere.
Bytes gathered_at_once(const JobState& job) {
  if (job.largest_unit.value == 0) return {};
  return saves_by_parameter(job) ? job.largest_tensor : job.largest_unit;
}

std::string state_text(const JobState& job) {
  return fmt::format("{} of parameters and {} of optimizer state", to_string(job.student),
                     to_string(job.optimizer));
}

int holders(const JobState& job) {
  return spec_of(job).rank0_only ? 1 : job.ranks_per_node;
}

PhaseMemory save_full(const JobState& job) {
  PhaseMemory row{.phase = LifePhase::save_full,
                  .device = job.between,
                  .host = job.processes,
                  .asked = saves(job) && spec_of(job).type == CheckpointType::full};
  if (job.largest_unit.value == 0) {
    row.host += job.largest_tensor;
    row.formula = "what a rank holds anyway; in host memory a tensor at a time";
    return row;
  }
  if (spec_of(job).offload_to_cpu) {
    row.device += gathered_at_once(job);
    row.host += state_of(job) * holders(job);
    row.formula = fmt::format("host: {} x ({}); on the device {} at a time", holders(job), state_text(job),
                              to_string(gathered_at_once(job)));
  } else {
    row.device += state_of(job);
    row.host += job.largest_tensor;
    row.formula = fmt::format("between steps {} + {}", to_string(job.between), state_text(job));
    if (!saves_by_parameter(job)) {
      row.device += job.largest_unit;
      row.formula += fmt::format(" + a unit of {}", to_string(job.largest_unit));
    }
  }
  return row;
}

// Copies of a rank's own part, taken out of units that are gathered one after the other.
void gather_to_save_shards(const JobState& job, PhaseMemory& row) {
  const Bytes part = job.largest_unit / resolve_mesh(job.planned.scenario).shard;
  row.device += job.largest_unit + part;
  const bool on_host = spec_of(job).offload_to_cpu;
  (on_host ? row.host : row.device) += on_host ? job.own * job.ranks_per_node : job.own;
  row.formula =
      fmt::format("between steps {} + a gathered unit of {} and its shard of {}; copies of {} on the {}",
                  to_string(job.between), to_string(job.largest_unit), to_string(part), to_string(job.own),
                  on_host ? "host" : "device");
}

PhaseMemory save_sharded(const JobState& job) {
  PhaseMemory row{.phase = LifePhase::save_sharded,
                  .device = job.between,
                  .host = job.processes + job.largest_tensor * job.ranks_per_node,
                  .asked = saves(job) && spec_of(job).type != CheckpointType::full,
                  .formula = "each rank writes its own, a tensor at a time"};
  const bool gathers = facts_of(job.planned.scenario).gathers_to_save_shards && job.largest_unit.value > 0;
  if (gathers && spec_of(job).type == CheckpointType::sharded) gather_to_save_shards(job, row);
  return row;
}

PhaseMemory resume(const JobState& job) {
  PhaseMemory row{.phase = LifePhase::resume,
                  .device = job.between + job.largest_tensor,
                  .host = job.processes,
                  .asked = !spec_of(job).resume.empty()};
  if (spec_of(job).type == CheckpointType::full) {
    row.host += state_of(job) * holders(job);
    row.formula = fmt::format("host: {} x ({})", holders(job), state_text(job));
  } else {
    row.host += job.largest_tensor * job.ranks_per_node;
    row.formula = "each rank reads its own, a tensor at a time";
  }
  return row;
}

}  // namespace

std::vector<PhaseMemory> saving_phases(const JobState& job) {
  return {save_full(job), save_sharded(job), resume(job)};
}

}  // namespace shardlab

// Checkpoints: parameters and the optimizer's state.
//
// Full (torch 2.11, distributed/checkpoint/state_dict.py and fsdp/_state_dict_utils.py): the parameters are
// gathered, by parameter or by unit, and kept on the device, or moved to the host before the next is gathered
// (offload_to_cpu); the optimizer's state likewise. Without sharding nothing is gathered: a file is written a
// tensor at a time. Sharded (distributed/checkpoint/filesystem.py): each rank writes its own, a tensor at a
// time. Resuming from a full one: the reading ranks have the whole file in host memory (torch.load), the
// others get their part a tensor at a time.
#include <fmt/format.h>

#include <algorithm>

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

// What is on the device only while it is gathered.
Bytes gathered_at_once(const JobState& job) {
  if (job.largest_unit.value == 0) return {};
  const bool by_parameter = facts_of(job.planned.scenario).saves_by_parameter;
  return by_parameter ? job.largest_tensor : job.largest_unit;
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
  row.device += gathered_at_once(job);
  if (spec_of(job).offload_to_cpu) {
    row.host += state_of(job) * holders(job);
    row.formula = fmt::format("host: {} x ({}); on the device {} at a time", holders(job), state_text(job),
                              to_string(gathered_at_once(job)));
  } else {
    row.device += state_of(job);
    row.host += job.largest_tensor;
    row.formula = fmt::format("between steps {} + {}, gathered {} at a time", to_string(job.between),
                              state_text(job), to_string(gathered_at_once(job)));
  }
  return row;
}

PhaseMemory save_sharded(const JobState& job) {
  return {.phase = LifePhase::save_sharded,
          .device = job.between,
          .host = job.processes + job.largest_tensor * job.ranks_per_node,
          .asked = saves(job) && spec_of(job).type != CheckpointType::full,
          .formula = "each rank writes its own, a tensor at a time"};
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

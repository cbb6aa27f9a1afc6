// The rows of life_phases(), and what they are reckoned from. Private to this folder.
#pragma once

#include <vector>

#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/life_phase.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct JobState {
  const PlannedScenario& planned;
  const Device& device;
  const RunTrace& predicted;
  Bytes between = {};         // live between steps: shards, optimizer state
  Bytes model = {};           // all parameters as stored, a teacher's included
  Bytes student = {};         // those that a checkpoint has
  Bytes optimizer = {};       // the optimizer's state of all ranks of a copy
  Bytes own = {};             // what a sharded checkpoint has of one rank
  Bytes largest_unit = {};    // gathered, as stored; zero where nothing is gathered
  Bytes largest_tensor = {};  // of the parameters, as stored
  Bytes processes = {};       // of a node, in host memory
  int ranks_per_node = 1;
};
JobState job_state(const PlannedScenario& planned, const Device& device, const RunTrace& predicted);

std::vector<PhaseMemory> construction_phases(const JobState& job);
std::vector<PhaseMemory> step_phases(const JobState& job);
PhaseMemory evaluation_phase(const JobState& job);
std::vector<PhaseMemory> saving_phases(const JobState& job);

// Highest peak of the first rank.
Bytes peak_of(const StepTrace& step);

}  // namespace shardlab

// What an instruction does when it is run: the counterpart of an InstructionKind.
//
// An action is prepared once from the plan (every lookup, offset and view that can be known is) and run every
// step. To add one: a file in this folder and a line in the table (table.cpp).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/execute/step_scalars.h"
#include "engine/execute/torch/buffer_table.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/execution_backend.h"
#include "engine/execute/torch/late_scalars.h"
#include "engine/execute/torch/operator_clock.h"
#include "engine/execute/training_data.h"
#include "engine/plan/layout.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/out_of_memory.h"

namespace shardlab {

// What lives as long as the run.
struct RunState {
  RunState(const PlannedScenario& scenario, int world_rank, std::shared_ptr<ExecutionBackend> works_on);

  const PlannedScenario& planned;
  int rank;  // of the world
  const std::shared_ptr<ExecutionBackend> backend;
  BufferTable buffers;
  std::shared_ptr<SwapDrive> drive;  // where plans have buffers on one
  Communicators communicators;
  std::optional<TrainingData> data;
  // Where a model's parameters come from, with what its checkpoint calls them; without a reader from the
  // seed.
  struct Origin {
    std::optional<SafetensorsReader> weights;
    ModelGraph names;
    std::size_t first_parameter = 0;  // of the model, in the graph of the plan
  };
  Origin student, teacher;
  std::int64_t optimizer_steps = 0;             // that the optimizer has made, skipped ones not counted
  std::optional<LossScale> loss_scale;          // when the scenario scales its loss
  Bytes memory_limit;                           // what this rank may use; zero: unknown
  std::optional<OperatorClock> operator_clock;  // where operators are timed
  // Assignments of each expert in the forward passes so far, by dispatch operator; of this rank, on its
  // device.
  std::map<OperatorId, at::Tensor> expert_counts;

  // This rank's place in the group that shards the parameters of the student and of the teacher.
  int shard_rank = 0, teachers_shard_rank = 0;
  ParameterLayout layout(const Buffer& buffer) const { return make_layout(planned.graph, buffer); }
  // Which part of a sharded buffer is this rank's. Smaller shards repeat within the group: ranks of a
  // sub-group follow each other.
  int part(const Buffer& buffer) const {
    const bool teachers = buffer.unit && planned.partition.unit(*buffer.unit).teacher;
    return (teachers ? teachers_shard_rank : shard_rank) % buffer.shards;
  }
};

// What one step tells.
struct StepContext {
  std::int64_t step = 0;  // from 0
  double learning_rate = 0;
  std::vector<double> losses;  // by micro-batch
  std::optional<double> gradient_norm;
  std::optional<bool> overflow;              // of the gradients of all ranks, once it is known
  std::unique_ptr<Pending> pending;          // left running by a collective or a drive
  std::optional<OutOfMemory> out_of_memory;  // when that ended the step
  LateScalars* late = nullptr;               // how numbers come back; there while a step runs
  bool reads_norm = false;                   // gradient_norm is among what comes back late
  bool is_counted = false;                   // among RunState::optimizer_steps
};

class Action {
 public:
  Action() = default;
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;
  virtual ~Action() = default;
  // May throw.
  virtual void run(StepContext& step) = 0;
  // In place of run() when the instruction's guard was false: what must hold all the same. May throw.
  virtual void skip(StepContext&) {}
};

// Where an instruction stands when it is prepared.
struct Site {
  RunState& run;
  const StepPlan& plan;
  InstructionId id;
  const std::vector<Slot>& slots;  // by BufferId

  const Instruction& instruction() const { return plan.instruction(id); }
  Slot slot(BufferId buffer) const { return slots[buffer.index()]; }
  const Buffer& buffer(BufferId buffer) const { return plan.buffer(buffer); }
  // internal_error that names the instruction.
  tl::unexpected<Error> defect(std::string what) const {
    return internal_error(std::string(to_string(plan.phase)) + " " + instruction_label(plan, id),
                          std::move(what));
  }
};

using PreparedAction = Result<std::unique_ptr<Action>>;
using PrepareFunction = PreparedAction (*)(const Site& site);

// not_possible for kinds that cannot be run yet. Kinds without work of their own (Free, HostWait ...) give a
// null action.
PreparedAction prepare_action(const Site& site);

// Forward, Recompute and Backward allocate and free inside; for all other kinds the runner does it around
// them.
constexpr bool manages_memory(InstructionKind kind) {
  return runs_segment(kind);
}

PreparedAction prepare_accumulate(const Site& site);
PreparedAction prepare_check_finite(const Site& site);
PreparedAction prepare_clip_gradients(const Site& site);
PreparedAction prepare_collective(const Site& site);
PreparedAction prepare_copy(const Site& site);        // Copy, Cast, Pack, Unpack
PreparedAction prepare_drive_copy(const Site& site);  // Copy from or to a drive
PreparedAction prepare_gradient_norms(const Site& site);
PreparedAction prepare_initialize(const Site& site);
PreparedAction prepare_load_batch(const Site& site);
PreparedAction prepare_nothing(const Site& site);
PreparedAction prepare_optimizer_step(const Site& site);
PreparedAction prepare_segment(const Site& site);  // Forward, Recompute, Backward
PreparedAction prepare_unscale(const Site& site);
PreparedAction prepare_zero_gradients(const Site& site);

}  // namespace shardlab

// One rank of a real run: interprets the plans of a scenario with libtorch.
//
// The executor knows nothing of strategies: it allocates the buffers that instructions allocate, runs
// segments' programs through the operator implementations, issues collectives and waits for them where the
// plan waits, all on the queues of a backend. Everything that can be decided before a step (where each
// parameter lies, which copies a Pack makes) is prepared in create().
//
// An executor belongs to one thread. Ranks may be processes or threads of one process. Memory is booked in
// the ledger of the options; call install_counting_allocator() before the first tensor, or nothing is
// counted. No exception leaves: failures of libtorch or of a peer become run_failed with `where` = "rank 1,
// step 4, 37 AllGather u2".
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/execute/streams/jitter.h"
#include "engine/execute/torch/communication/communicator.h"
#include "engine/execute/torch/execution_backend.h"
#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/out_of_memory.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

class RankExecutor;

// Called before each instruction of each step, on every rank, for tests and debugging. Times of an observed
// step mean nothing.
using StepObserver = std::function<void(RankExecutor&, const StepPlan&, InstructionId)>;

struct RankExecutorOptions {
  int rank = 0;                 // of the world
  Communicators communicators;  // of the plans' groups (shard, replicate); those of size 1 may be left out
  MemoryLedger ledger;
  StepObserver observer;
  Bytes memory_limit;  // what this rank may use, for what is said when it was too little; zero: unknown
  std::shared_ptr<ExecutionBackend> backend;  // null: make_host_backend()
  std::string run;  // what files on a drive are named after; empty: after this process
  // Test switches: what is allocated holds NaN until it is written, and queues are delayed by chance.
  bool poison = false;
  std::optional<Jitter> jitter = std::nullopt;
};

class RankExecutor {
 public:
  // Prepares all plans. `planned` must outlive the executor.
  static Result<std::unique_ptr<RankExecutor>> create(const PlannedScenario& planned,
                                                      RankExecutorOptions options);
  ~RankExecutor();
  RankExecutor(const RankExecutor&) = delete;
  RankExecutor& operator=(const RankExecutor&) = delete;

  // Runs the setup plan: parameters from the seed or from model.weights.
  Status setup();

  // Runs one step: the first plan, then the steady one. RankTrace::start_offset is left at zero.
  Result<RankTrace> step();

  int rank() const;  // of the world
  // Steps completed.
  std::int64_t steps() const;
  // The factor on the next step's loss; none when the scenario does not scale it.
  std::optional<double> loss_scale() const;
  // When the last step began, on this host's monotonic clock.
  Nanoseconds last_step_began() const;
  // What ended setup() or step(), when it was memory.
  const std::optional<OutOfMemory>& out_of_memory() const;
  // Most bytes that the communication library has taken for itself at once; not part of the samples.
  Bytes communication_workspace() const;

  // The operators' times in the measured steps so far; empty unless measure.detail asks for them.
  std::vector<OperatorTime> operator_times() const;
  // How many assignments each expert has had in the forward passes so far on this rank, by dispatch operator.
  std::map<OperatorId, std::vector<std::int64_t>> expert_counts() const;

  // The whole parameter (a fresh tensor of its shape, stored dtype, on the host). Collective when parameters
  // are sharded: all ranks call it for the same name at the same point. Errors: bad_input for a name
  // that the model does not have, run_failed when a collective fails.
  Result<at::Tensor> full_parameter(std::string_view name);
  // Likewise the gradient as it is now, from whichever buffers hold it; meant for an observer. Before
  // GradientNorms (or, without clipping, OptimizerStep) it is the averaged gradient of the step.
  Result<at::Tensor> full_gradient(std::string_view name);
  // A flat tensor sharing memory with a live buffer of the running plan; undefined when there is none in this
  // role alive. Waits for a collective that is still writing it.
  at::Tensor buffer(BufferRole role);

 private:
  struct State;
  explicit RankExecutor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlab

#include "engine/execute/torch/step_failure.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace shardlab {

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& cause) {
    return is_out_of_memory(cause);
  }
  return false;
}

Error step_failure(const RunState& run, const StepPlan& plan, InstructionId at, StepContext& step,
                   const MemoryLedger& ledger, const std::exception& error) {
  const std::string label = instruction_label(plan, at);
  Error failure{
      ErrorKind::run_failed,
      on_rank(run.rank,
              fmt::format("{}, {}", step.step < 0 ? "setup" : fmt::format("step {}", step.step), label)),
      first_line(error.what()), "", ErrorCode::failed_in_step};
  if (!is_out_of_memory(error)) return failure;
  const MemoryReading live = ledger.live();
  OutOfMemory& out = step.out_of_memory.emplace();
  out = {run.rank,
         step.step,
         at,
         label,
         {},
         live.total,
         live.by_class,
         run.memory_limit,
         first_line(error.what())};
  failure.what = describe(out);
  failure.hint =
      "`shardlab simulate` shows what takes memory when; smaller micro-batches or checkpointing need less";
  return failure;
}

bool is_skipped(const RunState& run, const PreparedInstruction& instruction, StepContext& step) {
  if (!instruction.guard) return false;
  step.overflow = run.buffers.tensor(*instruction.guard).item<float>() != 0;
  return *step.overflow;
}

}  // namespace shardlab

#include "engine/execute/torch/step_failure.h"

#include <fmt/format.h>

#include "engine/execute/torch/first_line.h"

namespace shardlab {

Error step_failure(const RunState& run, const StepPlan& plan, InstructionId at, const StepContext& step,
                   const std::exception& error) {
  return {ErrorKind::run_failed,
          fmt::format("rank {}, step {}, {}", run.rank, step.step, instruction_label(plan, at)),
          first_line(error.what()), ""};
}

bool is_skipped(const RunState& run, const PreparedInstruction& instruction, StepContext& step) {
  if (!instruction.guard) return false;
  step.overflow = run.buffers.tensor(*instruction.guard).item<float>() != 0;
  return *step.overflow;
}

}  // namespace shardlab

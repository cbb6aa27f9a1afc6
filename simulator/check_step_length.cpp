#include "simulator/check_step_length.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace shardlab {

Status check_step_length(const StepPlan& plan, std::span<const TimedInstruction> instructions) {
  constexpr double k_day = 86'400e9, k_most_days = 100;
  double sum = 0;
  for (const TimedInstruction& instruction : instructions)
    sum += static_cast<double>(instruction.duration.value) + static_cast<double>(instruction.issue.value);
  if (sum <= k_most_days * k_day) return {};
  const auto longest = std::max_element(
      instructions.begin(), instructions.end(),
      [](const TimedInstruction& a, const TimedInstruction& b) { return a.duration < b.duration; });
  const auto id = make_id<InstructionId>(static_cast<std::size_t>(longest - instructions.begin()));
  return bad_input(
      instruction_label(plan, id),
      fmt::format("it takes {:.2g} of the {:.2g} days of a step: more than {:g} are not simulated",
                  static_cast<double>(longest->duration.value) / k_day, sum / k_day, k_most_days),
      "lower model.sequence_length, train.micro_batch or train.accumulation, or name a faster device, "
      "network or drive");
}

}  // namespace shardlab

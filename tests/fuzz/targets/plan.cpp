// The text of a plan, and what is asked of every plan that was read.
#include "engine/plan/check.h"
#include "engine/plan/text.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_plan_text(std::string_view bytes) {
  const Result<StepPlan> plan = parse_plan(bytes, "input.plan");
  if (!plan) return answer_of(plan);
  const Result<StepPlan> again = parse_plan(to_text(*plan), "again.plan");
  promise(again.has_value(), "a plan that was written can be read");
  promise(*again == *plan, "a plan passes through its text");
  promise(plan_hash(*again) == plan_hash(*plan), "equal plans have one hash");
  (void)check_plan(*plan);  // a plan from outside may be unsound
  (void)live_bytes_after(*plan);
  (void)carried_bytes(*plan, MemorySpace::pinned_host);
  for (std::size_t i = 0; i < plan->instructions.size(); ++i)
    (void)instruction_label(*plan, make_id<InstructionId>(i));
  return Answer::taken;
}

}  // namespace shardlab::fuzz

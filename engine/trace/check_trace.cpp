#include "engine/trace/check_trace.h"

#include <fmt/format.h>

#include <set>

namespace shardlab {
namespace {

// Samples are spans or memory samples.
template <typename Sample>
Status check_order(const StepPlan& plan, const std::string& where, const std::vector<Sample>& samples) {
  const InstructionId* previous = nullptr;
  for (const Sample& sample : samples) {
    if (sample.instruction.index() >= plan.instructions.size()) {
      return bad_input(where, fmt::format("instruction {} is not in the plan, which has {}",
                                          sample.instruction.value, plan.instructions.size()));
    }
    if (previous && *previous >= sample.instruction) {
      return bad_input(
          where,
          fmt::format("instruction {} follows instruction {}", sample.instruction.value, previous->value),
          "each instruction is recorded once, in the order of the plan");
    }
    previous = &sample.instruction;
  }
  return {};
}

Status check_times(const std::string& where, const std::vector<Span>& spans) {
  // What no step takes: sums and differences of times stay integers.
  constexpr Nanoseconds k_most{std::int64_t{1} << 60};  // 36 years
  for (const Span& span : spans) {
    for (const Nanoseconds time : {span.issue, span.ready, span.start, span.end}) {
      if (time > k_most || time < Nanoseconds{} - k_most)
        return bad_input(
            where, fmt::format("instruction {} has the time {} ns", span.instruction.value, time.value));
    }
    if (span.end < span.start) {
      return bad_input(where, fmt::format("instruction {} ends before it starts", span.instruction.value));
    }
  }
  return {};
}

}  // namespace

Status check_trace(const StepPlan& plan, std::string_view hash, const StepTrace& step) {
  const std::string place = fmt::format("trace of step {}", step.step);
  if (step.plan_hash != hash) {
    return bad_input(place, fmt::format("it was recorded with plan {}, not with {}", step.plan_hash, hash));
  }
  if (step.ranks.empty()) return bad_input(place, "it has no rank");
  std::set<int> seen;
  for (const RankTrace& rank : step.ranks) {
    const std::string where = fmt::format("{}, rank {}", place, rank.rank);
    if (!seen.insert(rank.rank).second) return bad_input(where, "the rank is there twice");
    SHARDLAB_CHECK_OK(check_order(plan, where, rank.spans));
    SHARDLAB_CHECK_OK(check_order(plan, where, rank.memory));
    SHARDLAB_CHECK_OK(check_times(where, rank.spans));
  }
  return {};
}

}  // namespace shardlab

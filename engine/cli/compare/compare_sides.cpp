#include "engine/cli/compare/compare_sides.h"

#include <utility>

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/run_spec.h"
#include "engine/store/judged_pair.h"
#include "engine/trace/metrics.h"

namespace shardlab {
namespace {

// An imported run has no scenario, and so no tolerances.
Tolerances tolerances_of(const RunRecord& run) {
  const auto read = parse_scenario_with_source(run.scenario_yaml, run.name);
  return read ? read->scenario.measure->tolerance : Tolerances{};
}

}  // namespace

Result<Compared> compare_sides(ComparedSide first, ComparedSide second) {
  Compared compared;
  compared.first = std::move(first);
  compared.second = std::move(second);
  const RunSummary &a = compared.first.run.summary, &b = compared.second.run.summary;
  compared.same_plan = a.plan_hash == b.plan_hash && !a.ended_by && !b.ended_by;
  compared.judged = is_judged_pair(compared.first.run, compared.second.run);
  if (compared.judged && a.kind == RunKind::measured) std::swap(compared.first, compared.second);
  const RunRecord &one = compared.first.run, &other = compared.second.run;
  const Tolerances tolerances = compared.judged ? tolerances_of(other) : Tolerances{};
  const bool by_instruction = !one.trace.steps.empty() && !other.trace.steps.empty();  // not of a log
  if (compared.same_plan && by_instruction) {
    SHARDLAB_TRY(compared.comparison, compare(one.plan.steady, {one.summary, one.trace},
                                              {other.summary, other.trace}, tolerances));
  } else {
    SHARDLAB_TRY(compared.comparison, compare_summaries(one.summary, other.summary, tolerances));
    leave_unknown_unjudged(compared.comparison);
  }
  const std::string& why = reason_not_to_judge_times(one, other);
  if (compared.judged && !why.empty()) leave_times_unjudged(compared.comparison, why);
  return compared;
}

}  // namespace shardlab

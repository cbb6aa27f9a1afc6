#include <algorithm>
#include <utility>

#include "engine/report/explain_time/explained_time.h"
#include "engine/scenario/cluster_spec.h"

namespace shardlab {

ExplainedTime explain_time(const PlannedScenario& planned, const RunSummary& run, const RunTrace& trace,
                           std::vector<TimeSaving> savings) {
  ExplainedTime time;
  const StepTrace& step = trace.steps.back();
  const StepPlan& plan = planned.plan.step(step.step);
  const bool host_computes = planned.scenario.cluster->device == DeviceKind::cpu;
  time.scenario = planned.scenario.name;
  time.rank = step.ranks.front().rank;
  time.step_time = step.ranks.front().duration;
  time.exposed = run.exposed_communication;
  time.tokens_per_second = run.tokens_per_second;
  time.rows = path_rows(plan, PlanWords(plan), critical_path(plan, step.ranks.front(), host_computes));
  for (const PathRow& row : time.rows) time.parts[static_cast<std::size_t>(row.part)] += row.time;
  time.operators = run.operators;
  std::stable_sort(time.operators.begin(), time.operators.end(),
                   [](const OperatorTime& a, const OperatorTime& b) { return a.time > b.time; });
  if (run.memory) time.peak = run.memory->peak_device.value_or(run.memory->peak_allocated);
  time.fits = run.fits;
  time.savings = std::move(savings);
  return time;
}

}  // namespace shardlab

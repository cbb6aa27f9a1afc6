#include "simulator/search/full_prediction.h"

#include <algorithm>
#include <utility>

#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

// The forward of the first micro-batch, from where its first segment begins to where its last ends.
Nanoseconds forward_time(const StepPlan& plan, const StepTrace& step) {
  std::optional<Nanoseconds> begin;
  Nanoseconds end;
  for (const Span& span : step.ranks.front().spans) {
    const Instruction& instruction = plan.instructions[span.instruction.index()];
    if (instruction.kind != InstructionKind::Forward || instruction.micro_batch.value_or(0) != 0) continue;
    begin = begin ? std::min(*begin, span.start) : span.start;
    end = std::max(end, span.end);
  }
  return begin ? end - *begin : Nanoseconds{};
}

}  // namespace

Result<FullPrediction> predict_fully(const Scenario& scenario, std::optional<Calibration> calibration) {
  SHARDLAB_TRY(PlannedScenario planned, plan_scenario(scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace,
               simulate({planned, device, calibration ? &*calibration : nullptr}, HashedPlans::left_out));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  SHARDLAB_TRY(RunSummary run, summarize(planned, trace, limits, HashedPlans::left_out));
  // Setup, first step, and where there is one the second; the first makes the optimizer's states.
  const Nanoseconds first = trace.warmup.at(1).ranks.front().duration;
  PredictedFigures figures = figures_of(run, first, forward_time(planned.plan.steady, trace.steps.front()),
                                        tokens_per_step(planned));
  return FullPrediction{std::move(planned), std::move(run), std::move(calibration), std::move(trace),
                        std::move(figures)};
}

}  // namespace shardlab

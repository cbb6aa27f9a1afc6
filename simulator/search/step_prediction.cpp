#include "simulator/search/step_prediction.h"

#include <algorithm>

#include "engine/report/unit_warnings.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

// The host's and each stream's, since the step began.
std::vector<Nanoseconds> ends_of_backwards(const StepPlan& plan, const StepTrace& step) {
  const std::vector<Span>& spans = step.ranks.front().spans;
  const auto last = std::find_if(spans.rbegin(), spans.rend(), [&](const Span& span) {
    return plan.instruction(span.instruction).kind == InstructionKind::Backward;
  });
  std::vector<Nanoseconds> ends(1 + plan.streams.size());
  for (auto span = spans.begin(); span != last.base(); ++span) {
    Nanoseconds& end = ends[1 + plan.instruction(span->instruction).stream.index()];
    end = std::max(end, span->end - spans.front().issue);
  }
  if (last != spans.rend()) ends.front() = last->issue - spans.front().issue;
  return ends;
}

bool records_streams(const RunPlan& run) {
  const auto plans = run.all();
  return std::any_of(plans.begin(), plans.end(), [](const StepPlan* plan) {
    return std::any_of(plan->instructions.begin(), plan->instructions.end(),
                       [](const Instruction& instruction) { return instruction.recorded; });
  });
}

}  // namespace

Result<StepPrediction> step_prediction(const FullPrediction& full) {
  SHARDLAB_TRY(const DeviceLimits device, device_limits(full.planned));
  const RunPlan& plan = full.planned.plan;
  return StepPrediction{full.run,
                        full.figures.first_step,
                        full.figures.forward,
                        ends_of_backwards(plan.first, full.trace.warmup.at(1)),
                        ends_of_backwards(plan.steady, full.trace.steps.front()),
                        records_streams(plan),
                        work_of_step(full.planned),
                        sent_elements(full.planned),
                        device};
}

Result<bool> memory_repeats(const FullPrediction& full) {
  SHARDLAB_TRY(const Device device, resolve_device(*full.planned.scenario.cluster));
  return repeats_by_micro_batch({full.planned, device, full.calibration ? &*full.calibration : nullptr},
                                full.trace);
}

}  // namespace shardlab

#include "engine/cli/lessons/lesson_runs.h"

#include "engine/cli/measure.h"
#include "engine/trace/comparison.h"
#include "simulator/lessons/check_lesson.h"

namespace shardlab {

Status run_for_lesson(const lessons::RunStep& run, lessons::LessonSubjects& subjects, RunStore& store,
                      Console& console) {
  SHARDLAB_CHECK_OK(lessons::check_can_run(run, subjects));
  SHARDLAB_TRY(const lessons::PredictedSubject* predicted, subjects.predicted(run.scenario));
  SHARDLAB_CHECK_OK(check_inputs(predicted->planned, {}));
  SHARDLAB_TRY(std::optional<FinishedRun> measured, measure(predicted->planned, {}, store, console));
  if (!measured) return internal_error("lesson", "a rank without a team");
  SHARDLAB_TRY(Comparison comparison,
               compare(predicted->planned.plan.steady, {predicted->summary, predicted->trace},
                       {measured->summary, measured->trace}, {}));
  subjects.take_run(run.scenario,
                    {std::move(measured->trace), std::move(measured->summary), std::move(comparison)});
  return {};
}

}  // namespace shardlab

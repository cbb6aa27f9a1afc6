// The real runs of lessons.
#pragma once

#include "engine/cli/console.h"
#include "engine/lessons/lesson.h"
#include "engine/store/run_store.h"
#include "simulator/lessons/lesson_subjects.h"

namespace shardlab {

// Trains the scenario of the step on this machine, stores the run, compares it with the prediction and gives
// it to the subjects as run(scenario). Errors: check_can_run()'s and measure()'s.
Status run_for_lesson(const lessons::RunStep& run, lessons::LessonSubjects& subjects, RunStore& store,
                      Console& console);

}  // namespace shardlab

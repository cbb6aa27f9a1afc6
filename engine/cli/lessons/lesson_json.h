// `lesson NN --json`: a lesson with everything evaluated.
#pragma once

#include "engine/cli/console.h"
#include "engine/cli/lessons/open_lesson.h"

namespace shardlab {

// Errors: whatever the lesson's expressions say.
Result<Json> lesson_json(const OpenLesson& open);

}  // namespace shardlab

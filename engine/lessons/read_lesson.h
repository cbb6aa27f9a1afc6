// Lesson files: YAML to a Lesson (docs/writing-lessons.md).
#pragma once

#include <filesystem>

#include "engine/base/input_file.h"
#include "engine/base/result.h"
#include "engine/lessons/lesson.h"

namespace shardlab::lessons {

inline constexpr FileKind k_lesson_file{"lesson", std::int64_t{256} << 10};

// Reads `folder`/lesson.yaml. Errors: bad_input, all mistakes together, with their places: what is no lesson,
// an unknown key (with the nearest), an expression that is none, a question without a right answer, a figure
// typed by hand, a scenario that is not named. The scenarios themselves are read when they are asked for.
Result<Lesson> read_lesson(const std::filesystem::path& folder);

}  // namespace shardlab::lessons

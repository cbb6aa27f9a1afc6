// `lesson --check`: whether the lessons still say what the program says.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/cli/console.h"
#include "engine/store/run_store.h"

namespace shardlab {

// Prints a line a lesson, every problem with its place, and a sum. With a store what lessons run is trained
// for real as well, and kept there. The result is the exit code: 1 where something does not hold. A lesson
// that cannot be read is a problem, and the others are checked: no error of a lesson ends the check.
Result<int> check_lessons(const std::vector<std::filesystem::path>& folders, RunStore* store,
                          Console& console);

}  // namespace shardlab

// The names of the descriptions in a folder of hardware.
//
// A process lists each folder once, because a search asks for the same ones thousands of times, and again
// when it has changed since, by its own time. Any number of threads may ask at once.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// Sorted, without ".yaml". Errors: those of reading the folder.
Result<std::vector<std::string>> listed_names(const std::filesystem::path& folder);

}  // namespace shardlab

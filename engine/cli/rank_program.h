// The program that runs one rank of a real run.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace shardlab {

// shardlab-rank beside this program; not_possible when it is not there.
Result<std::filesystem::path> rank_program();

}  // namespace shardlab

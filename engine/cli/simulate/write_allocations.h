// The allocator calls of a prediction as a file that `shardlab replay` reads (docs/allocator.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "simulator/memory/allocations/allocator_run.h"

namespace shardlab {

// `options`: the text of PYTORCH_ALLOC_CONF. Errors: the file cannot be written.
Status write_allocations(const std::filesystem::path& file, const std::string& options,
                         const std::vector<MadeCall>& calls);

}  // namespace shardlab

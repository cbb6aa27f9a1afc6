// Search files: YAML to a SearchQuestion (docs/search.md).
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "engine/base/result.h"
#include "simulator/search/question/search_question.h"

namespace shardlab {

// Reads the file and the scenario that it names, relative to its own folder; `overrides` are for the
// scenario. Errors: bad_input, all mistakes together, with their places.
Result<SearchQuestion> read_question(const std::filesystem::path& file,
                                     std::span<const std::string> overrides = {});

}  // namespace shardlab

// Random search files over all strategies, small and wide models, adapters, meshes and offload.
#pragma once

#include <string>

#include "tests/unit/search/small_question.h"

namespace shardlab::test {

// Writes the scenarios that random questions name into the folder.
void write_random_scenarios(const SearchFolder& folder);

// A search file over strategies, resharding, checkpointing, batches, nodes, prices and needs. Limits of
// memory make a part of each space too large.
std::string random_question(Numbers& numbers);

}  // namespace shardlab::test

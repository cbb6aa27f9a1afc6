// Settings that propose another strategy.
#pragma once

#include <string>
#include <vector>

#include "engine/scenario/strategy_facts.h"

namespace shardlab {

// Keeping the other keys of `parallel`, then without them: the first that the scenario allows is meant. A
// stage counts under DeepSpeed alone; empty where no strategy is like that.
std::vector<std::vector<std::string>> strategy_settings(Framework framework, int zero_stage = 0);

// The strategy with its own keys alone, of which `keys` ("sharding: no_shard") are given.
std::vector<std::string> strategy_with(Framework framework, const std::string& keys);

}  // namespace shardlab

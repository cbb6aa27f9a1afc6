// Whether the ranks of a run were given the same settings. Where each has a launcher of its own they need not
// be: plans are compared by their hash, and another learning rate plans the same.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/execute/watch/shared_values.h"

namespace shardlab {

// What a scenario in normal form says of a training: keys to values, as they are written. Left out is what
// names it, where it runs (which the plans have, or may differ from machine to machine) and what only a
// prediction or a verdict needs; of files and folders there is the last part of the path, for machines keep
// them in different places. Errors of parse_yaml().
Result<std::map<std::string, std::string>> training_settings(std::string_view scenario);

// Called by all ranks once they have met, each with its own scenario. run_failed, on all of them in the same
// words, where one has other settings than rank 0: which, and what they are. Also run_failed where a rank is
// not heard of within `patience`.
Status agree_on_settings(SharedValues& values, int rank, int world, std::string_view scenario,
                         std::chrono::milliseconds patience);

}  // namespace shardlab

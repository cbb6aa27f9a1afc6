// What the figures of a run mean, in words, and which settings decide them.
#pragma once

#include <string_view>

#include "gui/view_model/why.h"

namespace shardlab::view {

// The meaning of a metric (metric_names()), and of what tables show besides them (tokens_per_second_per_gpu,
// loss); null for a name that is none.
const Meaning* metric_meaning(std::string_view metric);

}  // namespace shardlab::view

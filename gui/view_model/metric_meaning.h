// What the figures of a run mean, in words, and which settings decide them.
#pragma once

#include <optional>
#include <string_view>

#include "gui/view_model/why.h"

namespace shardlab::view {

// The meaning of a metric (metric_names()) or of any other figure of a run (trace/figure_rows.h); absent for
// a name that is none.
std::optional<Meaning> metric_meaning(std::string_view metric);

}  // namespace shardlab::view

// What the figures of a run mean, in words, and which settings decide them.
#pragma once

#include <optional>
#include <string_view>

#include "gui/view_model/why.h"

namespace shardlab::view {

// Of a metric's name (metric_names()) and of every other figure of a run (trace/figure_rows.h); absent for a
// name that is none.
std::optional<Meaning> metric_meaning(std::string_view metric);

}  // namespace shardlab::view

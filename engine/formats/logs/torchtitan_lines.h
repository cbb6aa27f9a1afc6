// Lines of torchtitan's log. Private to this folder.
//
// Source: torchtitan/components/metrics.py (MetricsProcessor.log), before 2025-02 train.py; parallel_dims.py.
// The line of a step is `step: 10  loss:  8.0411  grad_norm:  2.1034  memory: 47.55GiB(60.07%)  tps: 6,921
// tflops: 398.10  mfu: 40.05%`, with colours between. `memory` is the highest that was reserved since the
// line before, `tps` (until 2024-11 `wps`) tokens per second of each device. The first step and every
// log_freq-th are printed.
#pragma once

#include <optional>
#include <string_view>

#include "engine/formats/logs/line_figures.h"

namespace shardlab {

// `line` is without escape sequences.
std::optional<LineFigures> torchtitan_figures(std::string_view line);

}  // namespace shardlab

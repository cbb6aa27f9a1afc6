// Lines of DeepSpeed's log. Private to this folder.
//
// Source: deepspeed/utils/timer.py (SynchronizedWallClockTimer.log, ThroughputTimer.stop),
// deepspeed/runtime/utils.py (see_memory_usage), engine.py (_report_progress), config.py (print), versions
// 0.3 to 0.19. Its GB are 2^30 bytes: every one is divided by 1024^3. `Max_CA` is rounded to whole ones.
// Timers run over all micro-batches of a step; parts of backward (bwd_inner, bwd_allreduce) and the timers of
// one micro-batch (fwd_microstep) are in the others.
#pragma once

#include <optional>
#include <string_view>

#include "engine/formats/logs/line_figures.h"

namespace shardlab {

std::optional<LineFigures> deepspeed_figures(std::string_view line);

}  // namespace shardlab

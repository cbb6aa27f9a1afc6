// Whether a run has room on its devices, and how much.
#pragma once

#include <optional>

#include "engine/base/units.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// tight: it runs within 5 % of the limit, or is not sure to fit. none: it does not fit. ample also where
// nobody knows the limit.
enum class Room : std::uint8_t { ample, tight, none };
Room room_of(const RunSummary& run);

// Whether it is the steps that do not fit, rather than making, loading or saving the model.
bool steps_do_not_fit(const RunSummary& run);

// By how much the device is too small; nothing where it is not, or where something else does not fit.
std::optional<Bytes> shortage_of(const RunSummary& run);

// What is held against the limit: what the device holds, or on processors what is allocated.
Bytes need_of(const RunSummary& run);

}  // namespace shardlab

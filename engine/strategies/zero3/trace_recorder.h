// The order in which one micro-batch enters the units, as a first pass over the model shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/partition.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// When a module is entered.
enum class TracePass : std::uint8_t { forward, recomputation, backward };

// A module is entered or left. None stands for one without parameters, of which nobody notes the end.
struct TraceEvent {
  std::optional<UnitId> unit;
  bool leaves = false;
  TracePass pass = TracePass::forward;
};

// Modules as they are entered and left, forward and backward; a recomputation enters them again.
std::vector<TraceEvent> record_trace(const ModelGraph& graph, const Partition& partition,
                                     const Scenario& scenario);

}  // namespace shardlab

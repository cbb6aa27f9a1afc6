// The order in which one micro-batch enters the units, as a first pass over the model shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/partition.h"
#include "engine/scenario/scenario.h"
#include "engine/strategies/zero3/module_reads.h"

namespace shardlab {

// When a module is entered.
enum class TracePass : std::uint8_t { forward, recomputation, backward };

// A module is entered or left; without a unit one that gathers nothing, of which nobody notes the end.
struct TraceEvent {
  ModuleId module;
  std::optional<UnitId> unit{};
  bool leaves = false;
  TracePass pass = TracePass::forward;
};

// Modules as they are entered and left, forward and backward; a recomputation enters them again.
std::vector<TraceEvent> record_trace(const ModelGraph& graph, const Partition& partition,
                                     const ModuleReads& reads, const Scenario& scenario);

}  // namespace shardlab

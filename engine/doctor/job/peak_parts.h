// What the predicted peak is made of, and what of it is to be changed first where it does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/doctor/case.h"
#include "engine/doctor/finding.h"
#include "engine/doctor/job/room.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// The classes of buffers of the peak, in three parts that add up to it.
struct PeakParts {
  Bytes activations;  // what forward keeps, its gradients, workspace
  Bytes gathered;     // gathered parameters, and buffers of gathers and reductions
  Bytes states;       // parameters, gradients, optimizer states and what else is there between steps
};
PeakParts peak_parts(const MemorySummary& memory);

enum class MemoryCause : std::uint8_t {
  giant_unit,
  fragmentation,
  activations,
  batch,  // activations that are computed again already
  gathered,
  states,      // that are sharded as far as they can be
  replicated,  // states that every rank holds
  stage,       // states under a ZeRO stage below 3
};

// Which of them a case is about that has a prediction, whether it fits or not: units that are too large
// and gaps between blocks before the largest part of the peak.
MemoryCause memory_cause(const Case& facts);

// What lacks where the device is too small, and what takes it: "still 8.7 GiB too much; what is left:
// activations 20.0 GiB, gathered 0 B, states 28.0 GiB". Where something else does not fit, the reason of the
// prediction.
std::string shortage_words(const RunSummary& run);

// Reserved and not allocated, as a share of the device's memory.
double idle_share(const RunSummary& run);

// Whether findings about memory are to be made: the steps do not fit, or only just.
bool lacks_memory(const Case& facts);

// A finding of a rule about memory with the figures as evidence. Where memory lacks and `cause` is what the
// case is about, it is an error, or where there is hardly room a warning, and takes the remedies of all
// others; else it is only worth knowing, where its own remedies lower the need.
Finding memory_finding(const Rule& rule, const Case& facts, std::optional<MemoryCause> cause,
                       std::vector<Remedy> remedies);

}  // namespace shardlab

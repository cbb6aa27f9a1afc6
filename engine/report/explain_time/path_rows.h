// The pieces of a critical path, alike ones together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/words.h"
#include "engine/report/words/plan_words.h"
#include "engine/trace/critical_path.h"

namespace shardlab {

// What the step waits for while a piece of its path runs.
enum class PathPart : std::uint8_t { computation, communication, transfer, host };
template <>
inline constexpr auto k_words<PathPart> =
    std::to_array<Word<PathPart>>({{PathPart::computation, "computation"},
                                   {PathPart::communication, "communication"},
                                   {PathPart::transfer, "transfer"},  // between memory spaces
                                   {PathPart::host, "host"}});

struct PathRow {
  PathPart part = PathPart::computation;
  std::string what;  // "backward of 32 layers"
  Nanoseconds time;
  std::int64_t pieces = 0;
  InstructionId longest;  // the instruction of its longest piece
  Nanoseconds longest_time;
  std::string after;  // of communication: what the longest piece began after; else empty
};

// The most time first; they add up to the path. `words` are those of the plan.
std::vector<PathRow> path_rows(const StepPlan& plan, const PlanWords& words,
                               const std::vector<PathPiece>& path);

}  // namespace shardlab

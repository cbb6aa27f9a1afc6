// Which program of a segment an instruction runs.
#pragma once

#include <span>

#include "engine/model/segment/program.h"
#include "engine/plan/instruction.h"

namespace shardlab {

struct SegmentRun {
  const Program& program;
  bool keeps = false;                // fills the segment's saved list
  std::span<const ValueIndex> kept;  // what goes into it
};

// `kind` is one of those for which runs_segment() is true.
inline SegmentRun segment_run(const SegmentPrograms& programs, InstructionKind kind) {
  if (kind == InstructionKind::Backward) return {programs.backward, false, {}};
  const Program& program = kind == InstructionKind::Recompute ? programs.recompute : programs.forward;
  if (&program != &programs.keeper()) return {program, false, {}};
  return {program, true, programs.keeps};
}

}  // namespace shardlab

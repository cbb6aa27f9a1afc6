// The blocks that one segment's program takes and gives back. Private to this folder.
#pragma once

#include <vector>

#include "engine/plan/gradient_parts.h"
#include "engine/plan/segment_run.h"
#include "simulator/memory/allocations/allocation_list.h"

namespace shardlab {

struct ProgramRun {
  const ModelGraph& graph;
  const StepPlan& plan;
  InstructionId instruction;
  SegmentRun run;
  const std::vector<std::vector<GradientPart>>& gradients;  // by step; empty where it makes none
  // By step, or empty: gradients that are made and added to those there are (torch 2.11, AccumulateGrad).
  const std::vector<std::vector<GradientPart>>& added;
};

// Errors: internal where a value of the program has no buffer in the instruction.
Status follow_allocations(const ProgramRun& run, AllocationList& list);

}  // namespace shardlab

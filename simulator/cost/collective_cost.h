// Time of a collective, from the last member's arrival to its end.
//
//   t = latency + S * f / bandwidth + gamma * sqrt(S)
//
// S: bytes of the full side. f: share of them that each link carries, the bus factor of nccl-tests
// (doc/PERFORMANCE.md). The root stands for the filling of the pipeline.
#pragma once

#include "engine/base/units.h"
#include "engine/plan/instruction.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shape_table.h"
#include "simulator/network/collective_kind.h"

namespace shardlab {

struct CollectiveWork {
  InstructionKind kind = InstructionKind::AllGather;
  Bytes bytes;  // full side
  int ranks = 1;
};

struct CollectiveTerms {
  double latency_ns = 0;
  BytesPerSecond bandwidth;
  double ns_per_root_byte = 0;
  ShapeTable measured;  // over bytes
};

// The network's word for an instruction that communicates.
CollectiveKind collective_kind(InstructionKind kind);

// As simulator/network/collective_kind.h has it.
double bus_factor(InstructionKind kind, int ranks);

// 0 for a group of one.
double collective_ns(const CollectiveWork& work, const CollectiveTerms& terms);
double collective_formula_ns(const CollectiveWork& work, const CollectiveTerms& terms);
ShapeTable::Coordinates coordinates_of(const CollectiveWork& work);
CostBreakdown explain_collective(const CollectiveWork& work, const CollectiveTerms& terms);

}  // namespace shardlab

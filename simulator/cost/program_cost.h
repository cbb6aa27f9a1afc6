// Time of a segment's program: the sum of its steps, each the sum of its work.
#pragma once

#include <span>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/segment/program.h"
#include "simulator/cost/coefficients.h"

namespace shardlab {

struct StepCost {
  double nanoseconds = 0;  // on the device
  std::int64_t kernels = 0;
};

// The costs of a program's steps in order; `direction` is the program's.
std::vector<StepCost> program_costs(const ModelGraph& graph, const Program& program, Direction direction,
                                    const CostCoefficients& coefficients);

// One part for each piece of work, with the operator's name.
CostBreakdown explain_program(const ModelGraph& graph, const Program& program, Direction direction,
                              const CostCoefficients& coefficients);

// Whether the two programs cost the same because their steps run the same kinds of operators on the same
// shapes. Cheap.
bool same_work(const ModelGraph& graph, const Program& a, const Program& b);

}  // namespace shardlab

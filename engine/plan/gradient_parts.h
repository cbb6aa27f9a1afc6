// Where a Backward's gradients of parameters come to be.
//
// Autograd allocates the gradient of a parameter when the operator that makes it runs (torch 2.11,
// AccumulateGrad takes over what the operator's backward returned), not when the segment's backward begins. A
// gradient buffer of separate parameters (BufferLayout) is therefore one storage a parameter, made by the
// step of the segment's program that writes it first; every other one is a single storage, made by the step
// that writes the first of its parameters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/segment/program.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

struct GradientPart {
  BufferId buffer;
  std::size_t part = 0;  // of separate parameters: position in Buffer::parameters
  Bytes bytes;
};

// By step of `program`, the backward that the instruction runs: what is allocated before the step, of the
// gradient buffers that the instruction allocates, or of those among `made`. What no step writes comes with
// the first.
std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      const Instruction& backward, const Program& program);
std::vector<std::vector<GradientPart>> gradient_parts(const ModelGraph& graph, const StepPlan& plan,
                                                      std::span<const BufferId> made, const Program& program);

}  // namespace shardlab

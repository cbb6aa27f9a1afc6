// What instructions that only move memory read and write.
#pragma once

#include <optional>
#include <string_view>

#include "engine/model/model_graph.h"
#include "engine/plan/step_plan.h"
#include "simulator/cost/memory_bound.h"

namespace shardlab {

struct TrainSpec;  // engine/scenario/train_spec.h

struct InstructionTraffic {
  std::string_view name;  // "unpack": of its coefficients and its probe
  Traffic traffic;        // pieces: separate copies or kernels of the real executor on a CPU
};

// None for segments, collectives and what takes no time. `train` says which optimizer a step is.
std::optional<InstructionTraffic> traffic_of_instruction(const ModelGraph& graph, const StepPlan& plan,
                                                         const Instruction& instruction,
                                                         const TrainSpec& train);

}  // namespace shardlab

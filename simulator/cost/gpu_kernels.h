// How many kernels instructions outside of segments launch on a GPU.
//
// Source: torch 2.11, aten/src/ATen/native/cuda/MultiTensorApply.cuh (tensors and blocks of one launch of a
// foreach or fused operator), torch/optim (which operators a step is made of), torch/nn/utils/clip_grad.py.
#pragma once

#include <cstdint>

#include "engine/model/model_graph.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

struct TrainSpec;  // engine/scenario/train_spec.h

// At least 1. Copies are one kernel over all tensors, but where a strategy copies each gradient into a bucket
// as it arrives (StrategyFacts::copies_each_gradient). Parameters that lie in one flat vector are one tensor.
// `train` says which optimizer a step is, which launches nothing for frozen parameters.
std::int64_t gpu_kernels(const ModelGraph& graph, const StepPlan& plan, const Instruction& instruction,
                         const TrainSpec& train, bool copies_each_gradient);

}  // namespace shardlab

// DeepSpeed's BF16_Optimizer: what ZeRO-1 becomes with bfloat16 weights and float32 sums of gradients.
//
// Source: DeepSpeed 0.19.8, runtime/engine.py (_do_optimizer_sanity_check, allreduce_gradients) and
// runtime/bf16_optimizer.py. Every rank holds float32 sums of all gradients through the whole run, besides
// the bfloat16 gradients of a micro-batch, which are set to zero before the next backward and dropped after
// the step. One all-reduce in communication_data_type, which is bfloat16 where nothing else is said, averages
// all of them; the norm is taken of all, by every rank for itself. None of the bucket's options has any
// effect.
#pragma once

#include <memory>

#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

std::unique_ptr<Strategy> make_bf16_optimizer(StepBuilder& builder, const Scenario& scenario);

}  // namespace shardlab

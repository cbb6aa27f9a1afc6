// The learning rate of a step.
#pragma once

#include <cstdint>

#include "engine/scenario/train_spec.h"

namespace shardlab {

// `step` counts optimizer steps from 0, `run_steps` is the length of the run, used where the schedule gives
// no total_steps. Warm-up rises linearly from 0: step / warmup_steps. After it, linear falls to 0 at
// total_steps and cosine follows half a period to 0 there; constant stays. Source: transformers 5,
// optimization.py (get_linear_schedule_with_warmup and its sisters).
double learning_rate(const TrainSpec& train, std::int64_t step, std::int64_t run_steps);

}  // namespace shardlab

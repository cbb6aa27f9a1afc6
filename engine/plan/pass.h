// Passes that every plan has, whatever its strategy. An instruction's pass (StepPlan::passes) is one of these
// or a strategy's name, a teacher's with "teacher." before it.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class PlanPass : std::uint8_t { segments, constants, clip, scaler, optimizer, free_activations };
template <>
inline constexpr auto k_words<PlanPass> = std::to_array<Word<PlanPass>>({{PlanPass::segments, "segments"},
                                                                         {PlanPass::constants, "constants"},
                                                                         {PlanPass::clip, "clip"},
                                                                         {PlanPass::scaler, "scaler"},
                                                                         {PlanPass::optimizer, "optimizer"},
                                                                         {PlanPass::free_activations,
                                                                          "free_activations"}});

}  // namespace shardlab

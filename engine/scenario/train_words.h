// The words of the `activation` and `train` sections of a scenario.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class ActivationCheckpoint : std::uint8_t { none, full, selective };
template <>
inline constexpr auto k_words<ActivationCheckpoint> =
    std::to_array<Word<ActivationCheckpoint>>({{ActivationCheckpoint::none, "none"},
                                               {ActivationCheckpoint::full, "full"},
                                               {ActivationCheckpoint::selective, "selective"}});

// Where the checkpoint of a module lies when the module is a unit too: inside the unit or around it.
enum class CheckpointPlacement : std::uint8_t { inside, outside };
template <>
inline constexpr auto k_words<CheckpointPlacement> = std::to_array<Word<CheckpointPlacement>>(
    {{CheckpointPlacement::inside, "inside"}, {CheckpointPlacement::outside, "outside"}});

// Which micro-batches reduce their gradients.
enum class GradientSync : std::uint8_t { every, last };
template <>
inline constexpr auto k_words<GradientSync> =
    std::to_array<Word<GradientSync>>({{GradientSync::every, "every"}, {GradientSync::last, "last"}});

enum class Optimizer : std::uint8_t { adamw, adam, sgd, adamw_8bit, adafactor };
template <>
inline constexpr auto k_words<Optimizer> =
    std::to_array<Word<Optimizer>>({{Optimizer::adamw, "adamw"},
                                    {Optimizer::adam, "adam"},
                                    {Optimizer::sgd, "sgd"},
                                    {Optimizer::adamw_8bit, "adamw_8bit"},
                                    {Optimizer::adafactor, "adafactor"}});

// How torch runs it.
enum class OptimizerImplementation : std::uint8_t { fused, foreach, loop };
template <>
inline constexpr auto k_words<OptimizerImplementation> =
    std::to_array<Word<OptimizerImplementation>>({{OptimizerImplementation::fused, "fused"},
                                                  {OptimizerImplementation::foreach, "foreach"},
                                                  {OptimizerImplementation::loop, "loop"}});

// How the learning rate falls after the warm-up.
enum class ScheduleKind : std::uint8_t { constant, linear, cosine };
template <>
inline constexpr auto k_words<ScheduleKind> =
    std::to_array<Word<ScheduleKind>>({{ScheduleKind::constant, "constant"},
                                       {ScheduleKind::linear, "linear"},
                                       {ScheduleKind::cosine, "cosine"}});

enum class DataOrder : std::uint8_t { shuffled, sequential };
template <>
inline constexpr auto k_words<DataOrder> = std::to_array<Word<DataOrder>>(
    {{DataOrder::shuffled, "shuffled"}, {DataOrder::sequential, "sequential"}});

}  // namespace shardlab

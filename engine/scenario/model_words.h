// The words of the `model` section of a scenario.
#pragma once

#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class LossKind : std::uint8_t { plain, chunked };
template <>
inline constexpr auto k_words<LossKind> = std::to_array<Word<LossKind>>({{LossKind::plain, "plain"},
                                                                         {LossKind::chunked, "chunked"}});

// Where a training loop computes the loss.
enum class LossPlace : std::uint8_t { inside, outside };
template <>
inline constexpr auto k_words<LossPlace> = std::to_array<Word<LossPlace>>({{LossPlace::inside, "inside"},
                                                                           {LossPlace::outside, "outside"}});

// `triton` is flash attention as llm-foundry had it in Triton until 2023; `efficient` and `math` are backends
// of torch's scaled_dot_product_attention, `masked` the same where it is handed a mask; `eager` is
// transformers' attn_implementation, `unfused` Megatron's.
enum class AttentionKind : std::uint8_t {
  flash,
  flash3,
  triton,
  efficient,
  math,
  masked,
  eager,
  unfused,
  automatic
};
template <>
inline constexpr auto k_words<AttentionKind> =
    std::to_array<Word<AttentionKind>>({{AttentionKind::flash, "flash"},
                                        {AttentionKind::flash3, "flash3"},
                                        {AttentionKind::triton, "triton"},
                                        {AttentionKind::efficient, "efficient"},
                                        {AttentionKind::math, "math"},
                                        {AttentionKind::masked, "masked"},
                                        {AttentionKind::eager, "eager"},
                                        {AttentionKind::unfused, "unfused"},
                                        {AttentionKind::automatic, "auto"}});

// Whether a layer's scores are all in memory at once, and kept for backward.
constexpr bool keeps_scores(AttentionKind kind) {
  return kind == AttentionKind::math || kind == AttentionKind::eager || kind == AttentionKind::unfused;
}

// How tokens spread over experts in a prediction. `listed` has no word: it is written as a list of numbers.
enum class MoeLoadKind : std::uint8_t { balanced, measured, worst, listed };
template <>
inline constexpr auto k_words<MoeLoadKind> =
    std::to_array<Word<MoeLoadKind>>({{MoeLoadKind::balanced, "balanced"},
                                      {MoeLoadKind::measured, "measured"},
                                      {MoeLoadKind::worst, "worst"}});

}  // namespace shardlab

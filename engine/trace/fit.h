// Does a run fit the memory of its devices? A verdict in three words.
#pragma once

#include <cstdint>

#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

// unsure: it may fit, or not; of a prediction fit_probability says how likely.
enum class Fit : std::uint8_t { yes, unsure, no };
template <>
inline constexpr auto k_words<Fit> =
    std::to_array<Word<Fit>>({{Fit::yes, "yes"}, {Fit::unsure, "unsure"}, {Fit::no, "no"}});

// A prediction whose steps run with this probability or less does not fit.
inline constexpr double k_unlikely_to_run = 0.1;

// `peak` is what is known to be in use, `margin` what may be needed besides, `limit` what there is.
constexpr Fit judge_fit(Bytes peak, Bytes margin, Bytes limit) {
  if (peak > limit) return Fit::no;
  return peak + margin > limit ? Fit::unsure : Fit::yes;
}

}  // namespace shardlab

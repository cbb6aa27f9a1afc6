// Does a run fit the memory of its devices? A verdict in three words.
#pragma once

#include <cstdint>

#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab {

// tight: what the plan knows of fits, and what it does not know of may be too much.
enum class Fit : std::uint8_t { yes, tight, no };
template <>
inline constexpr auto k_words<Fit> =
    std::to_array<Word<Fit>>({{Fit::yes, "yes"}, {Fit::tight, "tight"}, {Fit::no, "no"}});

// `peak` is what is known to be in use, `margin` what may be needed besides, `limit` what there is.
constexpr Fit judge_fit(Bytes peak, Bytes margin, Bytes limit) {
  if (peak > limit) return Fit::no;
  return peak + margin > limit ? Fit::tight : Fit::yes;
}

}  // namespace shardlab

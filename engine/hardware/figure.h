// Where a figure of a hardware description comes from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/words.h"

namespace shardlab {

enum class FigureKind : std::uint8_t {
  vendor,
  measured,
  vendor_measured,
  vendor_derived,
  vendor_code,
  derived,
  recalled,
  estimate,
  market
};
template <>
inline constexpr auto k_words<FigureKind> =
    std::to_array<Word<FigureKind>>({{FigureKind::vendor, "vendor"},
                                     {FigureKind::measured, "measured"},
                                     {FigureKind::vendor_measured, "vendor-measured"},
                                     {FigureKind::vendor_derived, "vendor-derived"},
                                     {FigureKind::vendor_code, "vendor-code"},
                                     {FigureKind::derived, "derived"},
                                     {FigureKind::recalled, "recalled"},
                                     {FigureKind::estimate, "estimate"},
                                     {FigureKind::market, "market"}});

// Nobody measured or published it.
constexpr bool is_guess(FigureKind kind) {
  return kind == FigureKind::estimate || kind == FigureKind::recalled;
}

struct FigureSource {
  FigureKind kind = FigureKind::estimate;
  std::string source;  // page, repository and file, or plain words
};

using FigureSources = std::map<std::string, FigureSource>;

// The figures that are guesses, by key.
std::vector<std::string> estimated_figures(const FigureSources& provenance);

}  // namespace shardlab

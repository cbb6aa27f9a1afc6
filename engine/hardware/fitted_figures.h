// Figures that no table of single kernels gives, fitted to published training runs:
// assets/hardware/fitted.json.
//
// They hold for every source and every GPU. A calibration measures what they stand for and replaces them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/words.h"

namespace shardlab {

enum class FittedFigure : std::uint8_t {
  product_speed,     // of products in a step, relative to products measured alone
  memory_speed,      // of PyTorch's memory-bound operators in a step, relative to the same alone
  triton_attention,  // of flash attention in Triton, relative to flash attention 2
  python_operator,   // seconds of the host for an operator that Python issues
  python_hook,       // seconds of the host for a hook that Python runs: a unit's gather, free or reduction
};
template <>
inline constexpr auto k_words<FittedFigure> =
    std::to_array<Word<FittedFigure>>({{FittedFigure::product_speed, "product_speed"},
                                       {FittedFigure::memory_speed, "memory_speed"},
                                       {FittedFigure::triton_attention, "triton_attention"},
                                       {FittedFigure::python_operator, "python_operator"},
                                       {FittedFigure::python_hook, "python_hook"}});

struct FittedValue {
  double value = 0;
  double low = 0, high = 0;  // the range that is possible, by `source`
  std::string unit;          // "1", "s"
  std::string meaning;
  std::string source;  // of the range
};

class FittedFigures {
 public:
  // All of the range's lower end where nothing was read.
  double of(FittedFigure figure) const { return at(figure).value; }
  const FittedValue& at(FittedFigure figure) const { return values_[static_cast<std::size_t>(figure)]; }
  FittedValue& at(FittedFigure figure) { return values_[static_cast<std::size_t>(figure)]; }

 private:
  std::array<FittedValue, k_words<FittedFigure>.size()> values_;
};

// Errors: a file that is missing or malformed, a figure that is missing or outside of its range, one that no
// word of FittedFigure names.
Result<FittedFigures> read_fitted_figures();
Result<FittedFigures> parse_fitted_figures(std::string_view json, std::string_view name);

}  // namespace shardlab

// "Why?": where a number comes from: its formula, the numbers that went into it, the instruction and the
// settings behind it, and who says so. Every figure and every cell of a table that is a number has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"

namespace shardlab::view {

struct WhyPart {
  std::string label;
  std::string value;
  std::optional<InstructionId> instruction{};  // that one can go to
  std::optional<double> number{};  // what the formula takes, in the unit of the figure; absent: only told
};

// What the formula does with the numbers of the parts, in their order.
enum class Arithmetic : std::uint8_t {
  none,  // in words only
  sum,
  difference,  // the first less the others
  product,
  quotient,  // the first by the second
  error,     // the first by the second, less one
  median,
};

struct Why {
  std::string title;    // "step time of r12 measured"
  std::string value;    // "229 ms"
  std::string formula;  // in words, as docs/glossary.md defines it
  std::string source;   // where the numbers come from: a trace, a plan, a file
  std::vector<WhyPart> parts;
  std::vector<std::string> settings;  // keys of the scenario that decide most
  std::vector<std::string> notes;     // calibrated or not, what is left out
  Arithmetic arithmetic = Arithmetic::none;
};

// The formula done once more with the numbers of the parts; absent where it is in words only, or where a part
// that it needs is missing.
std::optional<double> reckon(const Why& why);

// The same as lines of text, to be copied.
std::string to_text(const Why& why);

// What a column of a table, or a metric, holds.
struct Meaning {
  std::string formula;
  std::string source{};
  std::vector<std::string> settings{};
};

}  // namespace shardlab::view

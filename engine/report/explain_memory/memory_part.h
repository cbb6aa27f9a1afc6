// What a row of the peak is made of.
#pragma once

#include <string>

#include "engine/base/units.h"
#include "engine/report/explain_memory/byte_formula.h"

namespace shardlab {

struct MemoryPart {
  std::string what;     // "log probabilities"; empty where the row says it
  std::string made_by;  // kind of operator; empty where none makes it
  ByteFormula formula;

  Bytes bytes() const { return bytes_of(formula); }
  friend bool operator==(const MemoryPart&, const MemoryPart&) = default;
};

}  // namespace shardlab

// A number of bytes as a sum of products of a scenario's own numbers, so that a reader can do it again:
// "2 bytes x 4,096 tokens x 14,336 feed-forward x 32 layers".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab {

struct Factor {
  std::int64_t value = 1;
  std::string name;  // in the plural: "tokens"; empty for a plain number

  friend bool operator==(const Factor&, const Factor&) = default;
};

// The factors' product, divided by that of the divisors. Whoever makes one sees to it that it divides.
struct ByteProduct {
  std::vector<Factor> factors;
  std::vector<Factor> divisors = {};

  Bytes bytes() const;
  friend bool operator==(const ByteProduct&, const ByteProduct&) = default;
};

using ByteFormula = std::vector<ByteProduct>;  // the products add up

Bytes bytes_of(const ByteFormula& formula);
std::string to_text(const ByteProduct& product);
std::string to_text(const ByteFormula& formula);

}  // namespace shardlab

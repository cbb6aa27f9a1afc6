// Weights of the numerical references: a formula of each parameter's name, so that they need no file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/shape.h"

namespace shardlab::test {

// Element i of the tensor (row-major): u = top 24 bits of splitmix64(FNV-1a 64 of the name + (i + 1) *
// golden) / 2^24, v = 2u - 1; weights of norms 1 + 0.125 v, biases 0.0078125 v, everything else 0.034641016
// v, in float32.
void fill_formula_weights(std::string_view name, std::span<float> values);

// The tensors of the published checkpoint that a parameter is made of, each a range of its elements: the
// parameter itself, or for the stacked weights of experts gate, up and down of each.
struct PublishedPiece {
  std::string name;
  std::int64_t first = 0, count = 0;
};
std::vector<PublishedPiece> published_pieces(std::string_view name, const Shape& shape);

}  // namespace shardlab::test

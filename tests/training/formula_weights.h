// Weights of the numerical references: a formula of each parameter's name, so that they need no file.
#pragma once

#include <span>
#include <string_view>

namespace shardlab::test {

// Element i of the tensor (row-major): u = top 24 bits of splitmix64(FNV-1a 64 of the name + (i + 1) *
// golden) / 2^24, v = 2u - 1; weights of norms 1 + 0.125 v, biases 0.0078125 v, everything else 0.034641016
// v, in float32.
void fill_formula_weights(std::string_view name, std::span<float> values);

}  // namespace shardlab::test

// Initial weights as a pure function of (seed, name, element): the same values whatever the number of ranks,
// and each rank computes only what it owns.
#pragma once

#include <cstdint>
#include <span>

#include "engine/model/model_graph.h"

namespace shardlab {

// Fills `values` with elements [first, first + values.size()) of the parameter in row-major order.
//
// `name` is the one without adapters, so that a model begins with the same weights with and without them.
// u[i] = top 24 bits of splitmix64 at state fnv1a(name) + seed-dependent offset + (i + 1) *
// 0x9E3779B97F4A7C15, over 2^24; the value is scale * (2u - 1). Seed 0 has offset 0.
void fill_initial_weights(const Parameter& parameter, std::uint64_t seed, std::int64_t first,
                          std::span<float> values);

}  // namespace shardlab
